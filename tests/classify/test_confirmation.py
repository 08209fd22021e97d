"""What needs a yes before it happens, and what does not."""

from __future__ import annotations

import pytest

from laneway.classify.confirm_features import message, table
from laneway.classify.confirmation import features, settled


@pytest.mark.parametrize(
    "text",
    [
        "restart the billing worker",
        "could you please remove the old tenant from the portal?",
        "see if the proxy answers and if not restart it",
        "is the scheduler up? if not, start it",
        "If the volume is nearly full, delete the oldest snapshots.",
        "list the expired tokens and revoke them",
        "don't stop the queue, restart only the consumer",
        "Leave the settings alone but rotate the keys",
        "would you mind killing the stuck export?",
        "write the totals into summary.txt",
        "remind me on Monday to renew the lease",
        "tell the night shift that gate 2 is closed",
        "give the auditor read access to the ledger",
        "git push origin release",
        "ls -la > listing.txt",
        "DELETE FROM carts WHERE age > 30",
        "rm -r build",
        "restrat the gateway",
        "Lösche bitte die alten Berichte",
        "重启缓存服务",
        "Why is debug logging still on in prod? Turn it off.",
        "summarise the call and mail the summary to the team",
        "find a free room for ten people and book it",
        "what's still running from last night's batch - kill all of it please",
        "get us a cab for half past six",
        "fail over to the second site",
        "pm2 restart api",
        "git status && git pull",
        "find . -name '*.bak' -delete",
        "Cancela la reserva de mañana",
        "新しいユーザーを追加して",
    ],
)
def test_a_change_needs_a_yes_whatever_was_learned(text: str) -> None:
    assert settled(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "show me the last deployments",
        "do not restart anything, just list what is down",
        "translate 'delete everything' into Dutch",
        "Proofread this notice: please remove your shoes and close the door",
        "draft a note to the landlord, don't send it",
        "write me a short poem about backups",
        "How do I drop a table without locking the others?",
        "is it safe to reboot the router now?",
        "can you tell me how to stop the service",
        "simulate the clean-up without saving",
        "rsync --dry-run src dst",
        "SELECT name FROM users",
        "kubectl get pods",
        "thanks!",
        "I restarted the box this morning.",
        "give me the ten largest folders",
        "upgrade nothing, only show what is outdated",
        "bring up the invoice that got cancelled",
        "put the fire drill in simpler words",
        "would you reboot it now if you were in my place?",
        "can a deleted mailbox be brought back",
        "aws s3 ls",
        "ya reinicié el servidor, gracias",
        "elenca gli utenti disattivati",
        "кто удалил отчёт?",
        "谁删除了文件",
    ],
)
def test_what_only_looks_needs_no_yes_whatever_was_learned(text: str) -> None:
    assert settled(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "the lobby screens could do with some rest",
        "no more visitors after eight",
        "can I get a refund for order 3312",
        "git reset --hard, explain it briefly",
        "how about restarting the gateway?",
    ],
)
def test_what_grammar_leaves_open_is_left_to_what_was_learned(text: str) -> None:
    assert settled(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "web2 could use a reboot",
        "the old ftp access can go",
        "the spam folder wants emptying",
        "guests should be able to see the shared calendar",
        "I'd appreciate it if the old kernels were gone by tonight",
        "retention: 30 days, not 90",
        "3 replicas → 6",
        "lights off in the warehouse",
        "never send receipts to my work address again",
        "der alte Zugang von Herrn Lenz gehört gesperrt",
        "le site de recette peut être éteint",
        "proszę wyłączyć alarm w magazynie",
        "sunucuyu kapatır mısın",
    ],
)
def test_an_order_in_other_words_than_an_order_is_seen(text: str) -> None:
    assert table(message(text))["earnest, no rehearsal"]
    assert settled(text) is not False


@pytest.mark.parametrize(
    "text",
    ["I should call my mum more often", "next free slot with Dr. Weiss?", "status of the migration", "take care"],
)
def test_what_orders_nothing_is_not_seen_as_an_order(text: str) -> None:
    assert not table(message(text))["earnest, no rehearsal"]


def test_the_numbers_for_learning_have_one_length_and_stay_between_zero_and_one() -> None:
    rows = [features(text) for text in ("", "reboot", "what is this?", "list them, then delete the oldest")]
    assert {len(row) for row in rows} == {60}
    assert all(0 <= number <= 1 for row in rows for number in row)
