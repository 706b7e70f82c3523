"""The projects of a store: how much each has, and when something was last saved."""

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask, cached_until_event
from holdfast.verbs.upkeep.overview import projects


def page(ask: Ask) -> Response:
    """List the projects."""
    listed = cached_until_event(ask, "projects", lambda: projects(ask.memory))
    return render.page(ask, "projects.html", title="Projects", found=listed)
