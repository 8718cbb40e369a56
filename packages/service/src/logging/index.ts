export { CauseLog } from './cause-log.js';
export * from './create-logger.js';
export { createJobLog } from './job-log.js';
export { type Rejection, RejectionLog } from './rejection-log.js';
export { TroubleLog } from './trouble-log.js';
