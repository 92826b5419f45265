"""Stands for ``spark-submit`` and a Kubernetes behind it: one pod, which is a process of this host, runs what
was submitted. Its image has Spark, Hadoop's client for S3 and a Python, and nothing of FlareIaC.

    home = one_pod_cluster(folder, java_home, jars)  # for FLAREIAC's place of Spark
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyspark

SPARK: Final = Path(pyspark.__file__).parent
_KEYS: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED")
_PODS: Final = "pods"


def one_pod_cluster(folder: Path, java_home: Path, jars: Sequence[Path], python: Sequence[str]) -> Path:
    """A folder with ``bin/spark-submit``. ``jars`` are those of the image, ``python`` starts its Python."""
    (folder / "bin").mkdir(parents=True)
    (folder / _PODS).mkdir()
    image = folder / "python"
    image.write_text(f'#!/bin/sh\nexec {" ".join(python)} "$@"\n')
    client = folder / "bin" / "spark-submit"
    client.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{folder}" "$@"\n')
    for script in (image, client):
        script.chmod(0o755)
    environment = {
        "JAVA_HOME": str(java_home),
        "PATH": "/usr/bin:/bin",
        "PYSPARK_PYTHON": str(image),
        "SPARK_DIST_CLASSPATH": os.pathsep.join(map(str, jars)),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    (folder / "environment.json").write_text(json.dumps(environment))
    return folder


def pods(folder: Path) -> list[int]:
    """The processes that were started, in order."""
    return [
        int(path.name) for path in sorted((folder / _PODS).iterdir(), key=lambda path: path.stat().st_mtime)
    ]


def end_pods(folder: Path) -> None:
    """Ends what still runs."""
    for pid in pods(folder):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _run(folder: Path, words: list[str]) -> int:
    """As the client does: it waits for the pod's end and tells its exit code."""
    options = dict(zip(words[:-2:2], words[1:-2:2], strict=True))
    if options.pop("--deploy-mode") != "cluster" or not options.pop("--master").startswith("k8s://"):
        return 2
    properties = folder / "spark.properties"
    shutil.copy(options["--properties-file"], properties)
    options |= {"--properties-file": str(properties), "--master": "local[2]", "--deploy-mode": "client"}
    known = {name: os.environ[name] for name in _KEYS}
    pod = subprocess.Popen(
        [SPARK / "bin" / "spark-submit", *(word for pair in options.items() for word in pair), *words[-2:]],
        env={**json.loads((folder / "environment.json").read_text()), **known},
        stdin=subprocess.DEVNULL,
        stdout=(folder / "pod.out").open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    (folder / _PODS / str(pod.pid)).touch()
    code = pod.wait()
    print(f"\t exit code: {code}", flush=True)
    return int(code != 0)


if __name__ == "__main__":
    sys.exit(_run(Path(sys.argv[1]), sys.argv[2:]))
