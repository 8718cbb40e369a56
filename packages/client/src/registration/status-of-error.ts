import { errorCodes, isErrorCode } from '@waxwing/protocol/phone';
import { ForgetfulStoreError } from '../accounts/verify-writes.js';
import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import {
  type RegistrationStatus,
  type RegistrationStatusCode,
  registrationStatus,
} from './registration-status.js';

/** Maps an error of the chat API, or a {@link ForgetfulStoreError}, to a status. @throws any other error. */
export function statusOfError(error: unknown): RegistrationStatus {
  if (error instanceof UnreachableError) {
    return registrationStatus('unreachable', {
      warning: error.message,
      retryAfterSeconds: error.retryAfterSeconds,
      cause: error.reason,
    });
  }
  if (error instanceof ForgetfulStoreError) {
    return registrationStatus('no-storage', { warning: error.message });
  }
  if (!(error instanceof ApiError)) throw error;
  const { code: errorCode, httpStatus, message: warning, retryAfterSeconds } = error;
  if (httpStatus === 401) return registrationStatus('signed-out', { errorCode, warning });
  const code = error.remedy === 'retry-later' ? 'retry-later' : statusCodeOf(errorCode);
  return registrationStatus(code, { errorCode, warning, retryAfterSeconds });
}

/** Maps the code of a failed registration to a status code. */
export function statusCodeOf(errorCode: string | undefined): RegistrationStatusCode {
  if (errorCode === 'PUSH_SERVICE_NOT_CONFIGURED') return 'not-configured';
  if (!isErrorCode(errorCode)) return 'failed';
  const { remedy } = errorCodes[errorCode];
  return remedy === 'update-app' || remedy === 'ask-admin' ? remedy : 'failed';
}
