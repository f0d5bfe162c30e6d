"""The parts of .github that only a repository, an image or a site makes possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tools.release.fields import Release


def push_image(release: Release) -> str:
    """The job of release.yml that builds the image for two platforms and pushes it."""
    if not release.image:
        return ""
    registry = release.image.partition("/")[0]
    return f"""\
  image:
    needs: build
    runs-on: ubuntu-latest
    permissions:
      contents: read
      packages: write
      attestations: write
      id-token: write
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - uses: docker/setup-qemu-action@v3
      - uses: docker/setup-buildx-action@v3
      - uses: docker/login-action@v3
        with:
          registry: {registry}
          username: ${{{{ github.actor }}}}
          password: ${{{{ secrets.GITHUB_TOKEN }}}}
      - run: make setup
      - id: push
        run: |
          .venv/bin/python -m tools.images emulator --push \\
            --platforms linux/amd64,linux/arm64 --tag "{release.image}:${{GITHUB_REF_NAME#v}}"
      - uses: actions/attest-build-provenance@v2
        with:
          subject-name: {release.image}
          subject-digest: ${{{{ steps.push.outputs.digest }}}}
          push-to-registry: true"""


def publish_package(release: Release) -> str:
    """The job of release.yml that gives the package index what was built, as a trusted publisher."""
    if not release.repository:
        return ""
    return """\
  index:
    needs: build
    runs-on: ubuntu-latest
    environment: release
    permissions:
      id-token: write
    steps:
      - uses: actions/download-artifact@v4
        with:
          name: dist
          path: dist
      - run: mkdir packages && mv dist/*.whl dist/*.tar.gz packages/
      - uses: pypa/gh-action-pypi-publish@release/v1
        with:
          packages-dir: packages
          attestations: true"""


def serve_pages(release: Release) -> str:
    """The job of docs.yml that serves the site."""
    if not release.documentation:
        return ""
    return """\
  serve:
    needs: build
    if: github.ref == 'refs/heads/main'
    runs-on: ubuntu-latest
    environment:
      name: github-pages
      url: ${{ steps.deployment.outputs.page_url }}
    permissions:
      pages: write
      id-token: write
    steps:
      - id: deployment
        uses: actions/deploy-pages@v4"""


def contacts(release: Release) -> str:
    """Where issue templates send questions that are no issues."""
    rows = []
    if release.documentation:
        rows.append(("Documentation", release.documentation, "Guides, reference, lessons"))
    if release.repository:
        policy = f"{release.repository}/blob/main/SECURITY.md"
        rows.append(("A weakness", policy, "Not in public: SECURITY.md says how"))
    if not rows:
        return ""
    return "contact_links:\n" + "\n".join(
        f'  - name: {name}\n    url: {address}\n    about: "{about}"'
        for name, address, about in rows
    )


REGIONS: Final[Mapping[str, Mapping[str, Callable[[Release], str]]]] = {
    ".github/workflows/release.yml": {"image": push_image, "package": publish_package},
    ".github/workflows/docs.yml": {"pages": serve_pages},
    ".github/ISSUE_TEMPLATE/config.yml": {"contacts": contacts},
}
"""By path and the region's name."""
