"""Studies: grids of simulations that resume, stop at a precision or when an error rate is known,
and say what they will cost and how they were made.

What is wanted is in `grid`, `definition`, `arguments` and `task`, in a file of TOML in `file`,
`file_instances` and `file_values`; what a folder holds in `store`, `frames`, `ledger` and `data`
(which joins them), and of classes not known here in `stored`; a run is in `run`, `job`, `backlog`,
`stopping`, `error_rate`, `state`, `progress`, `record`, `interrupts` and `time_limit`; what it will
cost in `forecast`, `pilot`, `disk` and `estimate`; how several processes share it in `division`,
`claims` and `work`, and how their stores become one in `merge` and `union`; what came of it in
`opening`, `results`, `holdings`, `summary`, `selection`, `tables` and `verify`; one result in a
file of its own in `saved`. A module belongs here if it needs a store or a grid of experiments, but
no figure.
"""

from rai_sim.study.data import StudyData as StudyData
from rai_sim.study.estimate import Estimate as Estimate
from rai_sim.study.grid import Study as Study
from rai_sim.study.merge import merge_studies as merge_studies
from rai_sim.study.opening import StudyFailed as StudyFailed
from rai_sim.study.opening import StudyInterrupted as StudyInterrupted
from rai_sim.study.opening import open_study as open_study
from rai_sim.study.results import StudyResults as StudyResults
from rai_sim.study.saved import load_result as load_result
from rai_sim.study.store import StoreError as StoreError
from rai_sim.study.store import StoreWarning as StoreWarning
from rai_sim.study.task import Task as Task
from rai_sim.study.time_limit import TimeLimitWarning as TimeLimitWarning
