"""How a report looks, and how its tables sort: style and script of the page."""

STYLE = """
body{font:16px/1.45 system-ui,sans-serif;color:#1a1a1a;background:#fff;margin:0 auto;max-width:76rem;padding:0 1rem 3rem}
h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:2.2rem;border-bottom:1px solid #ccc}
nav li{margin:.15rem 0}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;white-space:nowrap}
th{background:#f2f2f2}table.sorts th{cursor:pointer}
th[aria-sort=ascending]::after{content:" \\25B2"}th[aria-sort=descending]::after{content:" \\25BC"}
td.warn{background:#fff1e8;color:#7a1f00;font-weight:bold}td.warn::after{content:" !"}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));gap:1.5rem}
figure{margin:0}figure img{width:100%;max-width:34rem;height:auto}
figure.broad{grid-column:1/-1}figure.broad img{max-width:46rem}figcaption{font-size:.85rem;color:#444}
pre{background:#f6f6f6;padding:.6rem;overflow-x:auto;font-size:.8rem}details{margin:.6rem 0}
@media print{body{max-width:none}.wide{overflow:visible}table{font-size:.6rem}figure{break-inside:avoid}}
"""
#: Sorts a table by the column whose head is clicked or entered: numbers by their key, texts by the
#: reader's language, missing values last.
SCRIPT = """
"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.title = "sort by this column";
    const sort = () => {
      const falling = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows];
      const numeric = rows.every(row => !Number.isNaN(Number(key(row))));
      const compare = (a, b) => {
        const x = key(a), y = key(b);
        if (x === "" || y === "") return (x === "") - (y === "");
        if (!numeric) return x.localeCompare(y, undefined, {numeric: true}) * (falling ? -1 : 1);
        return (Number(x) === Number(y) ? 0 : Number(x) - Number(y)) * (falling ? -1 : 1);
      };
      rows.sort(compare).forEach(row => table.tBodies[0].append(row));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
  });
}
"""
