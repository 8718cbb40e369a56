import { useEffect, useRef } from 'preact/hooks';
import { search, serverList } from './server-list.js';

const pauseMilliseconds = 300;

/** Searches as the operator types, after a pause. */
export function ServerSearch() {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  function searchFor(text: string, wait: number): void {
    search.value = text.trim();
    clearTimeout(timer.current);
    timer.current = setTimeout(() => serverList.load(), wait);
  }
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          searchFor(search.value, 0);
        }}
      >
        <label for="server-search">Search by name, host name, contact or id</label>
        <input
          id="server-search"
          type="search"
          autocomplete="off"
          maxLength={200}
          value={search.value}
          onInput={(event) => searchFor(event.currentTarget.value, pauseMilliseconds)}
        />
      </form>
    </search>
  );
}
