import { connection, retryNow } from './live-stream.js';

/** Shows whether the figures are live and, if not, a button that reconnects immediately. */
export function ConnectionState() {
  const state = connection.value;
  return (
    <div class={`connection ${state}`}>
      <span role="status">
        {state === 'live' && 'Live'}
        {state === 'connecting' && 'Connecting …'}
        {state === 'lost' && 'Not connected'}
      </span>
      {state === 'lost' && (
        <button type="button" class="quiet" onClick={retryNow}>
          Connect now
        </button>
      )}
    </div>
  );
}
