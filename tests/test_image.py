"""The image of the service and its composition: what the files say. Only a release builds and starts them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.pages import DOCS, ROOT, parse

DOCKERFILE: Final = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: Final = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
RELEASE: Final = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
SERVICES: Final = ("one", "two")


def stages() -> list[list[tuple[str, str]]]:
    """Return the stages of the Dockerfile; each is a list of instructions and their arguments."""
    found: list[list[tuple[str, str]]] = []
    lines = [line for line in DOCKERFILE.splitlines() if not line.startswith("#")]
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            found.append([])
        if word:
            found[-1].append((word, rest.strip()))
    return found


def value_of(instruction: str) -> str:
    """Return the argument of an instruction that the last stage has once."""
    (value,) = [rest for word, rest in stages()[-1] if word == instruction]
    return value


def test_each_base_has_an_exact_version() -> None:
    """A build of tomorrow begins with the image of today."""
    bases = [stage[0][1].split()[0] for stage in stages()]
    bases += [service["image"] for service in COMPOSE["services"].values() if "build" not in service]
    assert len(bases) == 3
    assert all(re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z-]+", base) for base in bases), bases


def test_the_image_has_no_tools_of_the_build() -> None:
    """The last stage installs nothing, takes only the environment from the first, and removes pip."""
    (_, *last) = stages()[-1]
    run = " ".join(rest for word, rest in last if word == "RUN")
    assert [rest for word, rest in last if word in ("COPY", "ADD")] == [
        "--from=build /opt/memroot /opt/memroot"
    ]
    assert not re.search(r"\b(apt-get|apk|curl|install (?!--directory)|cargo)", run)
    assert "pip uninstall --yes pip" in run


def test_the_image_runs_as_a_user_without_rights() -> None:
    """The user is not root, and is made before the program runs."""
    words = [word for word, _ in stages()[-1]]
    run = " ".join(rest for word, rest in stages()[-1] if word == "RUN")
    assert re.search(rf"useradd .*\b{value_of('USER')}\b", run)
    assert words.index("USER") < words.index("ENTRYPOINT")


def test_the_image_starts_the_service_with_a_store_on_its_volume() -> None:
    """The command parses, a signal reaches it without a shell, and the store survives the container."""
    assert json.loads(value_of("ENTRYPOINT")) == ["engine"]
    parse(json.loads(value_of("CMD")))
    store = re.search(r"ENGINE_STORE=sqlite:(\S+)", value_of("ENV"))
    assert store is not None
    assert store[1].startswith(value_of("VOLUME") + "/")


def test_the_image_is_healthy_while_the_service_answers() -> None:
    """The check asks /health at the port that the service has by default, with a program of the image."""
    options, _, command = value_of("HEALTHCHECK").partition("CMD ")
    program, _, text = json.loads(command)
    assert program == "python"
    compile(text, "HEALTHCHECK", "exec")
    assert f"http://127.0.0.1:{value_of('EXPOSE')}/health" in text
    assert {"--interval=10s", "--timeout=5s"} <= set(options.split())


def test_docker_waits_longer_for_the_end_than_the_service() -> None:
    """The command in docs/service.md gives it more than the ten seconds that its requests have."""
    page = (DOCS / "service.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\$ (docker run --detach .*)$", page, re.MULTILINE)
    words = shlex.split(command)
    assert int(words[words.index("--stop-timeout") + 1]) > 10


def test_the_trial_leaves_a_composition_in_use_alone(tmp_path: Path) -> None:
    """The script has a project of its own; with secrets that exist already, it does not call Docker."""
    script = ROOT / ".github" / "try_image.sh"
    (project,) = re.findall(r"^export COMPOSE_PROJECT_NAME=(\S+)$", script.read_text("utf-8"), re.MULTILINE)
    assert project != COMPOSE["name"]
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text('#!/bin/sh\ntouch "$0.called"\n', encoding="utf-8")
    docker.chmod(0o755)
    (tmp_path / ".github").mkdir()
    shutil.copy(script, tmp_path / ".github")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "postgres").write_text("in use", encoding="utf-8")
    ended = subprocess.run(
        ["sh", str(tmp_path / ".github" / "try_image.sh")],
        env={"PATH": f"{docker.parent}:/usr/bin:/bin"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 1
    assert b"secrets/ or .env exists already" in ended.stderr
    assert (tmp_path / "secrets" / "postgres").read_text("utf-8") == "in use"
    assert not Path(f"{docker}.called").exists()


def test_the_build_sees_all_files_of_the_package_and_no_others() -> None:
    """What the Dockerfile copies is what .dockerignore lets through, and has all packages of the wheel."""
    copied = {
        word for instruction, rest in stages()[0] if instruction == "COPY" for word in shlex.split(rest)[:-1]
    }
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    assert {line[1:] for line in ignore if line.startswith("!")} == copied
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hatch = project["tool"]["hatch"]
    parts = hatch["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]
    needed = {*hatch["build"]["targets"]["wheel"]["packages"], *project["project"]["license-files"]}
    assert copied == needed | {part["path"] for part in parts if "path" in part} | {"pyproject.toml"}


def test_no_password_is_in_the_composition() -> None:
    """The database and the services read it from files that the repository does not have."""
    text = json.dumps(COMPOSE["services"])
    assert not re.search(r'"(POSTGRES_PASSWORD|PGPASSWORD)"', text)
    named = COMPOSE["services"]["db"]["environment"]["POSTGRES_PASSWORD_FILE"]
    assert named.startswith("/run/secrets/")
    for name in SERVICES:
        assert COMPOSE["services"][name]["environment"]["PGPASSFILE"] == "/run/secrets/pgpass"
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    for secret in COMPOSE["secrets"].values():
        assert secret["file"].startswith("./secrets/")
    assert {"/secrets/", "/.env"} <= set(ignored)


def test_the_role_of_the_services_is_no_superuser() -> None:
    """Row-level security does not bind a superuser, which is what the image makes of POSTGRES_USER."""
    assert "POSTGRES_USER" not in COMPOSE["services"]["db"]["environment"]
    assert re.search(
        r"CREATE ROLE memroot LOGIN PASSWORD :'password';", COMPOSE["configs"]["role"]["content"]
    )


def test_two_services_have_one_database_that_they_wait_for() -> None:
    """Both have the same store, and start when the database answers."""
    stores = {COMPOSE["services"][name]["environment"]["ENGINE_STORE"] for name in SERVICES}
    assert stores == {"postgresql://memroot@db/memories"}
    assert "pg_isready" in COMPOSE["services"]["db"]["healthcheck"]["test"]
    for name in SERVICES:
        service = COMPOSE["services"][name]
        assert service["depends_on"]["db"]["condition"] == "service_healthy"
        parse(service["command"])


@pytest.mark.parametrize("name", ["db", *SERVICES])
def test_each_container_is_bounded_and_comes_back(name: str) -> None:
    """It has a limit of memory, is started again, and has longer to stop than the service takes."""
    service: dict[str, Any] = COMPOSE["services"][name]
    assert service["mem_limit"]
    assert service["restart"] == "unless-stopped"
    assert int(service["stop_grace_period"].removesuffix("s")) >= 30


def test_only_this_machine_reaches_the_published_ports() -> None:
    """The services speak plain HTTP, so their ports are on loopback; the database has none."""
    assert "ports" not in COMPOSE["services"]["db"]
    ports = [port for name in SERVICES for port in COMPOSE["services"][name]["ports"]]
    assert ports == ["127.0.0.1:8377:8377", "127.0.0.1:8378:8377"]


def test_a_release_builds_and_tries_the_image_before_it_publishes_anything() -> None:
    """Only a tag starts the run, and only the last jobs may write anywhere."""
    jobs = RELEASE["jobs"]
    steps = [step.get("run", "") for step in jobs["image"]["steps"]]
    assert steps.index("docker build --tag memroot .") < steps.index("sh .github/try_image.sh")
    assert RELEASE[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key `on` as true
    assert "image" in jobs["publish"]["needs"]
    assert jobs["publish-image"]["needs"] == ["publish"]
    writing = {name for name, job in jobs.items() if "write" in job.get("permissions", {}).values()}
    assert writing == {"publish", "publish-image"}


def test_the_unit_for_systemd_starts_the_service() -> None:
    """The command in the unit of docs/service.md parses, and has more time to stop than the service takes."""
    unit = (DOCS / "service.md").read_text(encoding="utf-8").partition("```ini")[2].partition("```")[0]
    settings = dict(line.split("=", 1) for line in unit.splitlines() if re.match(r"[A-Z]\w+=", line))
    program, *arguments = settings["ExecStart"].split()
    assert program.endswith("/bin/engine")
    parse(arguments)
    assert int(settings["TimeoutStopSec"]) > 10
