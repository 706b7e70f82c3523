"""Memory MCP's API reference, tried literally."""

import pytest

from tests.compatible.conftest import Tools
from tests.compatible.scripts import scripts_in

promise = pytest.mark.promise
globals().update(scripts_in(__file__))
TOOLS = """remember recall recall_with_fallback recall_by_tag list_memories forget memory_stats hot_cache_status promote demote
pin unpin log_output run_mining mining_status review_candidates approve_candidate reject_candidate bootstrap_project
seed_from_text seed_from_file link_memories unlink_memories get_related_memories relationship_stats validate_memory
invalidate_memory get_trust_history find_contradictions get_contradictions mark_contradiction resolve_contradiction
get_sessions get_session get_session_memories cross_session_patterns set_session_topic access_patterns predict_next warm_cache
predictive_cache_status db_maintenance run_cleanup validate_embeddings db_info embedding_info audit_history
db_rebuild_vectors metrics_status""".split()


@promise("all tools of the reference are there")
def test_every_tool(ask: Tools) -> None:
    assert set(TOOLS) <= ask.names
