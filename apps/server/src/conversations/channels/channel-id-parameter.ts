import { integerParameter } from '@waxwing/service/http';

export const channelIdParameter = integerParameter.brand<'ChannelId'>();
