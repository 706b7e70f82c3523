"""One line of JSON for each event: who asked for what and the result, never the content."""

import json
import logging
from datetime import UTC, datetime

NAME = "holdfast"


class Lines(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Write time, level, what happened and the fields given with it."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {"at": at, "level": record.levelname.lower(), "event": record.getMessage()}
        fields |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0]:
            # The type and place of a failure: its message may quote stored text.
            trace = record.exc_info[2]
            while trace and trace.tb_next:
                trace = trace.tb_next
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
            fields |= {"error": record.exc_info[0].__name__, "place": place}
        return json.dumps(fields, ensure_ascii=False)


def log_as_json() -> None:
    """Log everything to stderr as lines of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines())
    logger = logging.getLogger(NAME)
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
