"""The parts of .github and mkdocs.yml that only a repository, an image or a site makes possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tools.release.fields import Release


def push_image(release: Release) -> str:
    """The jobs of release.yml that build the image, each on a machine of its platform, and push it."""
    if not release.image:
        return ""
    registry = release.image.partition("/")[0]
    login = f"""\
      - uses: docker/login-action@v3
        with:
          registry: {registry}
          username: ${{{{ github.actor }}}}
          password: ${{{{ secrets.GITHUB_TOKEN }}}}"""
    return f"""\
  image-of-platform:
    needs: build
    strategy:
      matrix:
        include:
          - {{ platform: amd64, machine: ubuntu-latest }}
          - {{ platform: arm64, machine: ubuntu-24.04-arm }}
    runs-on: ${{{{ matrix.machine }}}}
    permissions:
      contents: read
      packages: write
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
{login}
      - run: |
          make setup
          tag="{release.image}:${{GITHUB_REF_NAME#v}}-${{{{ matrix.platform }}}}"
          .venv/bin/python -m tools.images emulator --tag "$tag"
          docker push "$tag"

  image:
    needs: image-of-platform
    runs-on: ubuntu-latest
    permissions:
      packages: write
      attestations: write
      id-token: write
    steps:
{login}
      - id: push
        run: |
          tag="{release.image}:${{GITHUB_REF_NAME#v}}"
          docker buildx imagetools create --tag "$tag" "$tag-amd64" "$tag-arm64"
          digest=$(docker buildx imagetools inspect "$tag" --format '{{{{.Manifest.Digest}}}}')
          echo "digest=$digest" >> "$GITHUB_OUTPUT"
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
    """The job of docs.yml that adds a version to the site: `dev` from the main branch, a tag's number and `latest` from a tag."""
    if not release.documentation:
        return ""
    return """\
  serve:
    needs: build
    if: github.event_name == 'push'
    runs-on: ubuntu-latest
    permissions:
      contents: write
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - uses: actions/setup-node@v4
        with:
          node-version: "22"
      - run: |
          git config user.name "$GITHUB_ACTOR"
          git config user.email "$GITHUB_ACTOR@users.noreply.github.com"
          make site docs
          mike() { .venv-docs/bin/mike "$@"; }
          if [ "$GITHUB_REF_TYPE" = tag ]; then
            mike deploy --push --update-aliases "${GITHUB_REF_NAME#v}" latest
            mike set-default --push latest
          else
            mike deploy --push dev
            mike list latest || mike set-default --push dev
          fi"""


def site(release: Release) -> str:
    """Where the site is served, and where its sources are: lines of mkdocs.yml."""
    rows = (("site_url", release.documentation), ("repo_url", release.repository))
    return "\n".join(f"{name}: {address}" for name, address in rows if address)


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
    "mkdocs.yml": {"addresses": site},
    ".github/ISSUE_TEMPLATE/config.yml": {"contacts": contacts},
}
"""By path and the region's name."""
