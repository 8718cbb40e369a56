import { TroubleLog } from '@waxwing/service/logging';
import { expect, it } from 'vitest';

it('each problem is logged once until it changes, and its end is logged once', () => {
  const troubleLog = new TroubleLog();
  const said: string[] = [];
  const begin = (trouble: string) => troubleLog.begin(trouble, () => said.push(trouble));
  const end = () => troubleLog.end(() => said.push('well'));
  end();
  begin('away');
  begin('away');
  begin('full');
  end();
  end();
  begin('full');
  expect(said).toEqual(['away', 'full', 'well', 'full']);
});
