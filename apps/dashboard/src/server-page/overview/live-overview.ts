import { get } from '../../page/api/request.js';
import { Resource } from '../../page/api/resource.js';
import type { Overview } from '../answers.js';

/** The last overview. The stream of events updates it. */
export const overview = new Resource<Overview>((abort) => get('/overview', abort));
