"""The projects of a store: how much each has, and when something was last saved."""

from starlette.responses import Response

from holdfast.hosts.web import render
from holdfast.hosts.web.viewer import Ask, once_until_something_happens
from holdfast.verbs.upkeep.overview import projects


def page(ask: Ask) -> Response:
    """List the projects."""
    listed = once_until_something_happens(ask, "projects", lambda: projects(ask.memory))
    return render.page(ask, "projects.html", title="Projects", found=listed)
