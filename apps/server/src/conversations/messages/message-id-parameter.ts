import { integerParameter } from '@waxwing/service/http';

export const messageIdParameter = integerParameter.brand<'MessageId'>();
