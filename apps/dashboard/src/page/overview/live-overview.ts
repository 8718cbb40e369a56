import type { Overview } from '../api/answers.js';
import { get } from '../api/request.js';
import { Resource } from '../api/resource.js';

/** The last overview. The stream of events updates it. */
export const overview = new Resource<Overview>((abort) => get('/overview?minutes=60', abort));
