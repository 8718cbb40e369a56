import type { Overview } from '../api/answers.js';
import { get } from '../api/request.js';
import { Resource } from '../api/resource.js';

/** The latest overview. The event stream updates it. */
export const overview = new Resource<Overview>((abort) => get('/overview?minutes=60', abort));
