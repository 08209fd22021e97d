"""What needs a yes before it happens, and what does not."""

from __future__ import annotations

from laneway.classify.confirm_features import message, table
from laneway.classify.confirmation import settled

CHANGES = [
    "write the totals into summary.txt",
    "If the volume is nearly full, delete the oldest snapshots.",
    "pm2 restart api",
    "rm -r build",
    "could you please remove the old tenant from the portal?",
    "see if the proxy answers and if not restart it",
    "is the scheduler up? if not, start it",
    "list the expired tokens and revoke them",
    "don't stop the queue, restart only the consumer",
    "would you mind killing the stuck export?",
    "remind me on Monday to renew the lease",
    "tell the night shift that gate 2 is closed",
    "git push origin release",
    "ls -la > listing.txt",
    "DELETE FROM carts WHERE age > 30",
    "restrat the gateway",
    "Lösche bitte die alten Berichte",
    "重启缓存服务",
    "Why is debug logging still on in prod? Turn it off.",
    "summarise the call and mail the summary to the team",
    "what's still running from last night's batch - kill all of it please",
    "fail over to the second site",
    "git status && git pull",
    "find . -name '*.bak' -delete",
    "Cancela la reserva de mañana",
    "新しいユーザーを追加して",
]
LOOKS = [
    "write me a short poem about backups",
    "kubectl get pods",
    "do not restart anything, just list what is down",
    "translate 'delete everything' into Dutch",
    "Proofread this notice: please remove your shoes and close the door",
    "draft a note to the landlord, don't send it",
    "How do I drop a table without locking the others?",
    "can you tell me how to stop the service",
    "simulate the clean-up without saving",
    "rsync --dry-run src dst",
    "SELECT name FROM users",
    "thanks!",
    "I restarted the box this morning.",
    "upgrade nothing, only show what is outdated",
    "bring up the invoice that got cancelled",
    "put the fire drill in simpler words",
    "would you reboot it now if you were in my place?",
    "aws s3 ls",
    "ya reinicié el servidor, gracias",
    "кто удалил отчёт?",
    "谁删除了文件",
]
OPEN = [
    "the lobby screens could do with some rest",
    "no more visitors after eight",
    "can I get a refund for order 3312",
    "git reset --hard, explain it briefly",
    "how about restarting the gateway?",
]
ODD_ORDERS = [
    "web2 could use a reboot",
    "the old ftp access can go",
    "guests should be able to see the shared calendar",
    "I'd appreciate it if the old kernels were gone by tonight",
    "3 replicas → 6",
    "lights off in the warehouse",
    "never send receipts to my work address again",
    "der alte Zugang von Herrn Lenz gehört gesperrt",
    "proszę wyłączyć alarm w magazynie",
    "sunucuyu kapatır mısın",
]
NO_ORDERS = [
    "I should call my mum more often",
    "next free slot with Dr. Weiss?",
    "status of the migration",
    "take care",
]


def test_a_change_needs_a_yes_what_only_looks_needs_none_and_what_grammar_leaves_open_is_left_to_the_examples() -> None:
    tables = ((CHANGES, True), (LOOKS, False), (OPEN, None))
    wrong = [text for texts, expected in tables for text in texts if settled(text) is not expected]
    assert not wrong, "\n".join(wrong)


def test_an_order_in_other_words_than_an_order_is_seen_and_what_orders_nothing_is_none() -> None:
    earnest = {text: bool(table(message(text))["earnest, no rehearsal"]) for text in (*ODD_ORDERS, *NO_ORDERS)}
    wrong = [text for text, seen in earnest.items() if seen is not (text in ODD_ORDERS)]
    wrong += [text for text in ODD_ORDERS if settled(text) is False]
    assert not wrong, "\n".join(wrong)
