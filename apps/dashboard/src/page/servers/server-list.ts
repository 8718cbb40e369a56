import { signal } from '@preact/signals';
import type { RelayServer, ServerPage } from '../api/answers.js';
import { PagedResource, query } from '../api/paged-resource.js';
import { get } from '../api/request.js';

const pageSize = 50;

/** Search text; empty shows all servers. */
export const search = signal('');

export const serverList = new PagedResource<RelayServer>(async (after, abort) => {
  const page = await get<ServerPage>(
    `/servers${query({ search: search.value, after, limit: pageSize })}`,
    abort,
  );
  return { items: page.servers, next: page.next };
});
