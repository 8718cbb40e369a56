import { z } from 'zod';
import { flags, integers, texts } from './shape-fields.js';

/** A user's settings as stock clients read them. */
export const userSettingsShape = z.looseObject({
  ...flags(
    'twenty_four_hour_time',
    'starred_message_counts',
    'display_emoji_reaction_users',
    'presence_enabled',
    'pm_content_in_desktop_notifications',
    'send_private_typing_notifications',
    'enable_drafts_synchronization',
    'enable_sounds',
  ),
  ...texts('emojiset', 'default_language', 'timezone', 'web_home_view', 'notification_sound'),
  ...integers('color_scheme', 'email_address_visibility', 'web_font_size_px', 'user_list_style'),
  available_notification_sounds: z.array(z.string()),
  emojiset_choices: z.array(z.object({ key: z.string(), text: z.string() })),
});
