#!/bin/bash
# A study as an array of SLURM's, each job with its share of the work, and a last job that unites
# what they have run.
#
#     sbatch --array=1-16 scripts/study_array.sh gaps.toml          # into gaps.parts/1 to 16
#     sbatch --dependency=afterok:JOB scripts/study_array.sh --merge gaps.toml   # into gaps.study
#
# RAI_SIM_SHARED=1 lets all jobs write into the study's own folder, where nothing is to be merged.
# Jobs that were killed or requeued go on from what they have written: submit the same again.
# SLURM's own settings (partition, account, time) are given to sbatch, or written here.
#SBATCH --job-name=rai-sim
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --signal=B:TERM@120
set -euo pipefail

merge=0
if [ "${1:-}" = "--merge" ]; then
    merge=1
    shift
fi
if [ $# -lt 1 ] || [ ! -f "$1" ]; then
    echo "study_array.sh: ${1:-no file} is no study's TOML file; usage: sbatch --array=1-16" \
        "study_array.sh [--merge] FILE.toml [options of rai-sim study]" >&2
    exit 2
fi
file=$1
shift
parts=${file%.toml}.parts
store=${file%.toml}.study
program=${RAI_SIM:-rai-sim}

if [ "$merge" = 1 ]; then
    # unquoted: RAI_SIM may be several words, such as python -m rai_sim
    exec $program merge "$parts"/* --output "$store"
fi

if [ "${RAI_SIM_SHARED:-0}" = 1 ]; then
    place=$store
else
    mkdir -p "$parts"
    place=$parts/${SLURM_ARRAY_TASK_ID:?is not set: submit this by sbatch --array=1-16}
fi
# exec: SLURM's SIGTERM reaches the study, which writes what it has finished
exec $program study "$file" --part slurm --store "$place" --no-progress \
    --jobs "${SLURM_CPUS_PER_TASK:-1}" "$@"
