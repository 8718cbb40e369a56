import { get } from '../../page/api/request.js';
import { Resource } from '../../page/api/resource.js';
import type { Overview } from '../answers.js';

/** The latest overview. The event stream updates it. */
export const overview = new Resource<Overview>((abort) => get('/overview', abort));
