import { optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';

/** The parameters shared by the operations that create and update a linkifier. */
export const linkifierParameters = {
  pattern: z.string(),
  url_template: z.string(),
  /** An empty string removes the stored example. `reverse_template` works the same way. */
  example_input: z.string().optional(),
  reverse_template: z.string().optional(),
  alternative_url_templates: optionalJsonParameter(
    z.array(z.string('must be a list of strings'), 'must be a list').max(1000),
  ),
};

/** The feature levels that introduced these parameters. */
export const linkifierLevels = {
  url_template: 176,
  example_input: 471,
  reverse_template: 471,
  alternative_url_templates: 478,
} as const;
