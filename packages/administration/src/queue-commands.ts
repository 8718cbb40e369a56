import type { JobDetails, JobQueue, JobState, JobSummary } from '@waxwing/jobs';
import {
  type CommandResult,
  type ConsentFlags,
  formatColumns,
  type ListFlags,
  type OutputFlags,
  printListing,
  printResult,
  withJson,
  withListing,
  withYes,
} from '@waxwing/service/command-line';
import type { AnyTransaction } from '@waxwing/storage';
import type { AdministrationOptions, CommandLine } from './command-line.js';
import { withExistingDatabase } from './database-commands.js';
import { showPayload } from './show-payload.js';

interface QueueListFlags extends ListFlags {
  readonly state?: string;
  readonly kind?: string;
  readonly limit: number;
}

/** Adds the commands `list`, `show`, `retry` and `drop`. They cover all jobs, including dead letters. */
export function addQueueCommands(queue: CommandLine, options: AdministrationOptions): void {
  withListing(queue.command('list'), { searched: 'id, kind or last reason', limit: 100 })
    .description('list jobs, oldest first')
    .option('--state <state>', 'only jobs in this state: due, waiting, running, dead')
    .option('--kind <kind>', 'only jobs of this kind')
    .action(async (text: string | undefined, flags: QueueListFlags) => {
      const { kind, limit } = flags;
      const state = await readState(flags, options);
      const count = await withJobs(options, async (queue) => {
        const [any] = await queue.list({ state, kind, limit: 1 });
        if (any === undefined) await requireKind(kind, options);
        return printListing(options, flags, {
          name: 'jobs',
          pages: queue.pages({ state, kind, text, limit }),
          machines: forMachines,
          head: ['id', 'kind', 'state', 'attempts', 'at', 'last reason'],
          people: ({ id, kind, state, attempts, at, reason }) => {
            return [id, kind, state, attempts, instant(at), reason ?? ''];
          },
          none: 'There are no such jobs.',
        });
      });
      if (count === limit && !flags.json) {
        options.say(
          `There may be more than these ${limit}: raise --limit, or filter with a text, --state or --kind.`,
        );
      }
    });
  withJson(queue.command('show <id>'))
    .description('show one job; messages and keys in its payload are hidden')
    .action(async (id: string, flags: OutputFlags) => {
      const job = await withJobs(options, (queue) => queue.show(id));
      if (job === undefined) throw noSuchJob(id, options);
      printResult(options, flags, describeJob(job, options.shownPayloadFields));
    });
  addChanging(queue, options);
}

function addChanging(queue: CommandLine, options: AdministrationOptions): void {
  withJson(queue.command('retry <id>'))
    .description('make a waiting job due now, or retry a dead one with its original lifetime')
    .action(async (id: string, flags: OutputFlags) => {
      const record = recordOf(options, 'queue retry', id);
      if (!(await withJobs(options, (queue) => queue.retry(id, record)))) throw notChangeable(id, options);
      printResult(options, flags, { machines: { id, retried: true }, people: `The job ${id} is due now.` });
    });
  withYes(withJson(queue.command('drop <id>')))
    .description('remove a waiting or dead job, which will then never run')
    .action(async (id: string, { json, yes }: ConsentFlags) => {
      await withJobs(options, async (queue) => {
        const job = await queue.show(id);
        if (job === undefined) throw noSuchJob(id, options);
        await options.requireConsent(
          `The job ${id} (${job.kind}, ${job.state}) will never run. Continue?`,
          yes,
        );
        if (!(await queue.drop(id, recordOf(options, 'queue drop', id)))) throw notChangeable(id, options);
      });
      printResult(
        options,
        { json },
        { machines: { id, dropped: true }, people: `The job ${id} is removed.` },
      );
    });
}

function recordOf(options: AdministrationOptions, action: string, id: string) {
  return async (transaction: AnyTransaction) => options.recordJobAct?.(transaction, action, id);
}

function withJobs<Result>(
  options: AdministrationOptions,
  work: (jobs: JobQueue<unknown>) => Promise<Result>,
) {
  return withExistingDatabase(options, ({ jobs }) => work(jobs));
}

async function readState(
  { state }: QueueListFlags,
  { refusal }: AdministrationOptions,
): Promise<JobState | undefined> {
  const { jobStates } = await import('@waxwing/jobs');
  const known = jobStates.find((candidate) => candidate === state);
  if (state !== undefined && known === undefined) {
    throw refusal(`There is no state "${state}": it is one of ${jobStates.join(', ')}.`);
  }
  return known;
}

/** Throws a refusal if the program has no such kind. For a mistyped kind, an empty list would be misleading. */
async function requireKind(kind: string | undefined, options: AdministrationOptions): Promise<void> {
  if (kind === undefined || kind.startsWith('schedule/')) return;
  const known = await options.jobKinds();
  if (known.includes(kind)) return;
  throw options.refusal(
    `There is no kind "${kind}": it is one of ${known.join(', ')}, or schedule/ and a name.`,
  );
}

function noSuchJob(id: string, { refusal }: AdministrationOptions): Error {
  return refusal(`There is no job ${id}: it may be finished; "queue list" shows the existing jobs.`);
}

function notChangeable(id: string, { refusal }: AdministrationOptions): Error {
  return refusal(
    `There is no job ${id} that is waiting or dead: it may be running or finished; "queue list" shows the existing jobs.`,
  );
}

function forMachines({ id, kind, state, attempts, createdAt, at, giveUpAt, reason }: JobSummary) {
  return {
    id,
    kind,
    state,
    attempts,
    created_at: instant(createdAt),
    at: instant(at),
    give_up_at: instant(giveUpAt),
    reason: reason ?? null,
  };
}

function describeJob(job: JobDetails, shownFields: readonly string[]): CommandResult {
  const machines = { ...forMachines(job), payload: showPayload(job.payload, shownFields) };
  const rows = Object.entries(machines).map(([name, value]) => [
    name.replaceAll('_', ' '),
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return { machines, people: formatColumns(rows) };
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
