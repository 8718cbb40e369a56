import { ProtocolError } from '@waxwing/protocol';
import { CommandError } from '../command-line/index.js';
import { ConfigurationError } from '../config/index.js';

/**
 * Runs the code of a command and converts its error to a response that the page can show.
 * @throws ProtocolError BAD_REQUEST with HTTP status 409 and the command's error message
 */
export async function refuseAct<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof ConfigurationError)) throw error;
    throw new ProtocolError('BAD_REQUEST', { message: error.message, httpStatus: 409, cause: error });
  }
}
