"""The fields of a Telegram message that are not what somebody said or sent."""

from __future__ import annotations

# fmt: off
ENVELOPE = frozenset({
    "message_id", "date", "chat", "from", "sender_chat", "message_thread_id", "is_topic_message",
    "forward_origin", "forward_from", "forward_from_chat", "forward_from_message_id", "forward_signature",
    "forward_sender_name", "forward_date", "is_automatic_forward", "reply_to_message", "external_reply", "quote",
    "reply_to_story", "reply_to_checklist_task_id", "reply_to_poll_option_id", "via_bot", "edit_date",
    "has_protected_content", "is_from_offline", "is_paid_post", "media_group_id", "author_signature",
    "paid_star_count", "entities", "caption", "caption_entities", "show_caption_above_media", "has_media_spoiler",
    "link_preview_options", "suggested_post_info", "effect_id", "reply_markup", "business_connection_id",
    "sender_boost_count", "sender_business_bot", "sender_tag", "direct_messages_topic", "guest_query_id",
    "guest_bot_caller_user", "guest_bot_caller_chat", "receiver_user", "ephemeral_message_id",
})
"""Fields that say who, when and how; every other one is what."""

SERVICE = frozenset({
    "new_chat_members", "left_chat_member", "chat_owner_left", "chat_owner_changed", "new_chat_title",
    "new_chat_photo", "delete_chat_photo", "group_chat_created", "supergroup_chat_created",
    "channel_chat_created", "message_auto_delete_timer_changed", "migrate_to_chat_id", "migrate_from_chat_id",
    "pinned_message", "connected_website", "write_access_allowed", "proximity_alert_triggered", "boost_added",
    "chat_background_set", "checklist_tasks_done", "checklist_tasks_added", "direct_message_price_changed",
    "forum_topic_created", "forum_topic_edited", "forum_topic_closed", "forum_topic_reopened",
    "general_forum_topic_hidden", "general_forum_topic_unhidden", "giveaway_created", "giveaway_completed",
    "paid_message_price_changed", "poll_option_added", "poll_option_deleted", "video_chat_scheduled",
    "video_chat_started", "video_chat_ended", "video_chat_participants_invited",
})
"""What Telegram itself writes into a chat: nobody said it, so nobody is answered."""
# fmt: on
