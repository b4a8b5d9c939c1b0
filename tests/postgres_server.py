"""A temporary PostgreSQL for tests: its own folder, a socket in it, no network."""

from __future__ import annotations

import glob
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "canary-that-must-never-be-shown"
PORT = "54321"
_TABLES = itertools.count()


@dataclass(frozen=True)
class Server:
    folder: Path
    control: Callable[..., None] = lambda *_: None

    def ledger(self, schema: str = "", user: str = "curator") -> str:
        """The URL of a new ledger, or of that in a schema; the password is in PGPASSWORD."""
        host = str(self.folder).replace("/", "%2F")
        schema = schema or f"ledger{next(_TABLES)}"
        return f"postgresql://{user}@{host}:{PORT}/postgres?schema={schema}"

    def restart(self) -> None:
        """Stop at once, as after a power loss, and start again."""
        self.control("-m", "immediate", "restart")

    def url(self, table: str, user: str = "curator") -> str:
        """The source of a study; the password is in PGPASSWORD."""
        host = str(self.folder).replace("/", "%2F")
        return f"postgresql://{user}@{host}:{PORT}/postgres?table={table}"

    def connect(self) -> Any:
        """A connection of the owner, who may write."""
        import psycopg

        return psycopg.connect(
            host=str(self.folder),
            port=PORT,
            user="curator",
            password=PASSWORD,
            dbname="postgres",
            autocommit=True,
        )

    def run(self, *statements: str) -> None:
        with self.connect() as connection:
            for statement in statements:
                connection.execute(statement)

    def load(
        self, types: Mapping[str, str], cells: Mapping[str, Sequence[Any]], table: str = ""
    ) -> str:
        """Make a new table with these cells, a column each; its URL."""
        table = table or f"cells{next(_TABLES)}"
        columns = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        with self.connect() as connection:
            connection.execute(f"CREATE TABLE {table} ({columns})")
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in zip(*(cells[name] for name in types), strict=True):
                    copy.write_row(row)
        return self.url(table)


def missing() -> str:
    """Why there can be no server here; empty if there can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (the extra postgresql)"
    if _program("initdb") is None or _program("pg_ctl") is None:
        return "PostgreSQL's initdb and pg_ctl are not installed"
    if os.geteuid() == 0 and _user() is None:
        return "PostgreSQL does not run as root, and there is no user postgres or nobody"
    return ""


def _program(name: str) -> str | None:
    installed = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=_version)
    return shutil.which(name) or (installed[-1] if installed else None)


def _version(path: str) -> float:
    return float(Path(path).parts[4])


def _user() -> pwd.struct_passwd | None:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


@contextmanager
def server() -> Iterator[Server]:
    """A server that runs until the end, then stops and leaves nothing."""
    folder = Path(tempfile.mkdtemp(prefix="bayesdp"))
    owner: dict[str, Any] = {}
    user = _user() if os.geteuid() == 0 else None
    if user is not None:
        owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(folder, user.pw_uid, user.pw_gid)
    secret = folder / "secret"
    secret.write_text(PASSWORD, encoding="utf-8")
    secret.chmod(0o644)

    def run(name: str, *arguments: str) -> None:
        program = _program(name)
        assert program is not None
        log = folder / "output"
        with open(log, "ab") as output:
            done = subprocess.run(
                [program, *arguments], cwd="/", stdout=output, stderr=output, check=False, **owner
            )
        assert done.returncode == 0, log.read_text(encoding="utf-8", errors="replace")

    data = str(folder / "data")

    def control(*what: str) -> None:
        run("pg_ctl", "-D", data, "-o", options, "-l", str(folder / "log"), "-w", *what)

    options = f"-k {folder} -p {PORT} -c listen_addresses='' -c fsync=off -c lock_timeout=10s"
    try:
        run("initdb", "-D", data, "-U", "curator", "-A", "scram-sha-256", f"--pwfile={secret}",
            "-E", "UTF8", "--locale=C", "--no-sync")  # fmt: skip
        control("start")
        try:
            yield Server(folder, control)
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
