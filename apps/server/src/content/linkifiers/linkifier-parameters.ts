import { optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';

/** The parameters that creating and updating a linkifier share. */
export const linkifierParameters = {
  pattern: z.string(),
  url_template: z.string(),
  /** Empty for none, like the next field. */
  example_input: z.string().optional(),
  reverse_template: z.string().optional(),
  alternative_url_templates: optionalJsonParameter(
    z.array(z.string('must be a list of texts'), 'must be a list').max(1000),
  ),
};

/** The feature levels that introduced them. */
export const linkifierLevels = {
  url_template: 176,
  example_input: 471,
  reverse_template: 471,
  alternative_url_templates: 478,
} as const;
