"""The report on a study: one page of HTML that needs no network."""

from rai_sim.report.page import report as report
from rai_sim.report.page import write_report as write_report
