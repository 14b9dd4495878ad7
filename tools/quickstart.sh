#!/bin/bash
# From a fresh checkout to a trained model: installs what is missing, builds,
# draws a small data set unless one is given, and trains on two ranks.
#
#   tools/quickstart.sh [DATA]
#
#   DATA  a folder with train/CLASS/*.jpg and val/CLASS/*.jpg; without it the
#         drawn set, which a model gets right to 95 % and more in about two
#         minutes on two cores
#
# Ends with 0 if the model was trained (of the drawn set: to at least 95 %
# validation accuracy), else with the code of what went wrong.
set -euo pipefail

case ${1:-} in
  -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
  -*) echo "tools/quickstart.sh: unknown option $1 (--help)" >&2; exit 2 ;;
esac
if [[ $# -gt 1 ]]; then
  echo "tools/quickstart.sh: one folder at most, got $#: $*" >&2
  exit 2
fi
data=
if [[ $# -eq 1 ]]; then
  for part in train val; do
    if [[ ! -d $1/$part ]]; then
      echo "tools/quickstart.sh: $1/$part is no folder; wanted:" \
           "$1/{train,val}/CLASS/*.jpg" >&2
      exit 3
    fi
  done
  data=$(cd "$1" && pwd)
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/setup.sh
source tools/bazel_flags.sh
"$MILLRACE_BAZEL" build "${MILLRACE_BAZEL_FLAGS[@]}" \
  //tools:bench //tools:inspect //tools:launch //tools:shapes //tools:train

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
drawn=false
if [[ -z $data ]]; then
  drawn=true
  data=${XDG_CACHE_HOME:-$HOME/.cache}/millrace/shapes
  echo "Drawing a data set in $data"
  bazel-bin/tools/shapes "--out=$data" --force
fi

if [[ $(id -u) -eq 0 ]]; then
  # Containers and CI: mpirun refuses root without these.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
train=(bazel-bin/tools/train "--data=$data")
mpirun -n 2 --oversubscribe "${train[@]}" --seed=1 \
  "--metrics_json=$work/metrics.json"

python3 - "$work/metrics.json" "$drawn" "$data" <<'PYTHON'
import json
import sys

metrics, drawn, data = sys.argv[1:]
with open(metrics, encoding="utf-8") as file:
    summary = json.loads(file.readlines()[-1])
accuracy = summary["val_accuracy"]
print("""
validation accuracy  %.1f %%
images/s             %.0f on %d ranks
waiting for data     %.1f %% of the time

Try next:
  bazel-bin/tools/launch -n 2 bazel-bin/tools/train --data=%s --norm=group --checkpoint_dir=/tmp/checkpoints --resume=auto
  bazel-bin/tools/inspect digest --data=%s/train --image_size=64 --seed=1 --steps=3 --workers=4
  bazel-bin/tools/bench --data=%s/train --task=basic""" % (
      100 * accuracy, summary["images_per_s"], summary["ranks"],
      100 * summary["wait_share"], data, data, data))
if drawn == "true" and accuracy < 0.95:
    sys.exit("the drawn data set is learnt to 95 % and more: something is wrong")
PYTHON
