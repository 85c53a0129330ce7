// Writes promptfoo's results among the tests' data with promptfoo itself, whose models are functions here.
//
// `node write_promptfoo.mjs FOLDER` where promptfoo 0.121 is installed. Times and ids are set to the same ones each time;
// the rating of a person is put where its viewer puts one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import promptfoo from 'promptfoo';

const ANSWERS = { beans: 'In May.', roses: { month: 'May' } };

class Gardener {
  id() {
    return 'openai:gardener-1';
  }
  async callApi(prompt, context) {
    const output = ANSWERS[context.vars.plant];
    return output === undefined ? { error: 'timed out' } : { output };
  }
}

class Grader {
  id() {
    return 'openai:grader-1';
  }
  async callApi() {
    return { output: JSON.stringify({ pass: true, score: 0.8, reason: 'Short and kind.' }) };
  }
}

const contains = { type: 'contains', value: 'May' };
const kind = { type: 'llm-rubric', value: 'Is kind', metric: 'kindness', provider: new Grader() };
const evaluation = await promptfoo.evaluate(
  {
    description: 'garden',
    prompts: ['When do I see to {{plant}}?'],
    providers: [new Gardener()],
    tests: [
      { vars: { plant: 'beans', row: '01' }, assert: [contains, kind] },
      { vars: { plant: 'roses' }, assert: [contains] },
      { vars: { plant: 'rest' } },
    ],
    writeLatestResults: false,
  },
  { cache: false, maxConcurrency: 1 },
);
const summary = await evaluation.toEvaluateSummary();
writeFileSync(join(process.argv[2], 'promptfoo.json'), JSON.stringify({ results: summary }, null, 1) + '\n');
