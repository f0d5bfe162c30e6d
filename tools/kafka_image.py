"""The real broker's image, for machines that cannot pull apache/kafka: a JRE from Debian packages,
Kafka from Maven, built FROM scratch.

Prepares the context (docker/kafka has the rest) and builds it. Needs apt-get with package lists,
dpkg-deb, Maven and Docker; no network during the build. The image keeps the contract of
apache/kafka: KAFKA_* variables, paths, tools, user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools import kafka_jars
from tools.docker_build import ImageError, build, existing_hash, hash_of

HOME = kafka_jars.POM.parent
JRES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless", "openjdk-25-jre-headless")
PACKAGES = ("libc6", "zlib1g", "libgcc-s1", "libstdc++6", "busybox-static")
"""What a headless JRE links to, and a shell."""
_UNNEEDED = ("usr/share/doc", "usr/share/man", "usr/share/lintian", "usr/lib/*/gconv")
_UNNEEDED_JRE = ("legal", "man", "docs", "lib/ct.sym", "lib/server/classes_nocoops.jsa")


def build_kafka(tag: str) -> None:
    """Build the image, unless the one there has the same sources. Raises ImageError."""
    sources = [HOME / name for name in ("Dockerfile", "pom.xml", "bin", "etc")]
    wanted = hash_of([*sources, Path(__file__)])
    if existing_hash(tag) == wanted:
        return
    with tempfile.TemporaryDirectory(prefix="kafka-image-") as scratch:
        context = Path(scratch)
        for name in ("bin", "etc"):
            shutil.copytree(HOME / name, context / name)
        _jars(context / "libs")
        _root(context)
        build(context, HOME / "Dockerfile", tag, {}, wanted)


def _jars(place: Path) -> None:
    try:
        shutil.copytree(kafka_jars.jars(), place)
    except kafka_jars.NoJavaError as error:
        raise ImageError(str(error)) from None


def _root(context: Path) -> None:
    """rootfs/: the packages, laid open; a link to the JRE; two users."""
    debs, root = context / "debs", context / "rootfs"
    debs.mkdir()
    for folder in ("etc", "tmp", "opt"):
        (root / folder).mkdir(parents=True)
    jre = _download(debs)
    for package in debs.glob("*.deb"):
        _run("dpkg-deb", "-x", str(package), str(root))
    shutil.rmtree(debs)
    home = next(path for path in root.glob("usr/lib/jvm/java-*-openjdk-*") if path.is_dir())
    (root / "opt/java").symlink_to("/" + str(home.relative_to(root)))
    for unneeded in [
        *(path for pattern in _UNNEEDED for path in root.glob(pattern)),
        *(home / name for name in _UNNEEDED_JRE),
    ]:
        if unneeded.is_dir():
            shutil.rmtree(unneeded)
        else:
            unneeded.unlink(missing_ok=True)
    _check(root, jre)
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nappuser:x:1000:1000::/tmp:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nappuser:x:1000:\n")


def _check(root: Path, jre: str) -> None:
    """The JRE's configuration stands in /etc, where its links point; without it, it does not
    start."""
    if not any((root / "etc").glob("java-*-openjdk")):
        raise ImageError(
            f"the package {jre} is not laid out as expected: no /etc/java-*-openjdk in it"
        )


def _download(debs: Path) -> str:
    """Fetch the packages; the JRE is the first of `JRES` that the distribution has."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise ImageError(
            "no apt-get or dpkg-deb: this image is made of Debian packages; elsewhere pull apache/kafka:4.4.0"
        )
    failure = ""
    for attempt in range(2):
        for jre in JRES:
            done = subprocess.run(
                ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", jre, *PACKAGES],
                cwd=debs,
                check=False,
                capture_output=True,
                text=True,
            )
            if not done.returncode:
                return jre
            failure = failure or (done.stderr.strip().splitlines() or ["no reason given"])[0]
        if attempt or os.geteuid():
            break
        _run("apt-get", "-qq", "update")
    raise ImageError(
        f"the packages cannot be fetched ({failure}); are apt's lists there? (apt-get update)"
    )


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise ImageError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-300:]}")
