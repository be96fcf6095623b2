// A model server on loopback that streams its replies word by word, in the OpenAI dialect. Each
// reply is valid for its role; `pace` gives the milliseconds between two words, for all replies or by
// the prompt.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';

const OPINION = {
  summary: 'Yes, in small steps. Each step can be taken back.',
  details: {
    understanding: 'Whether to go ahead.', key_considerations: ['What it costs to go back'],
    recommendation: 'Go ahead in small steps.', rationale: 'A small step shows what a plan cannot.',
  },
  risks: [{ description: 'It takes longer.', severity: 'low', mitigation: 'Say so.' }],
  assumptions: ['There is time.'], questions: ['Who decides when to stop?'], confidence: 'high', stance: 'approve', findings: [],
};

const CONCLUSION = {
  recommendation: 'Go ahead in small steps, because each can be taken back.', key_condition: 'Going back stays cheap.',
  unresolved_points: [], review_by: '2999-01-01', participants: [],
};

const review = (letters) => ({
  targets: letters.map((letter, place) => ({
    letter, rating: Math.max(1, 9 - place),
    critiques: [{ type: 'omission', message: 'Who pays is left out.', severity: 'low' }],
    agreement_points: ['Small steps'], disagreement_points: [], finding_positions: [],
  })),
  would_change_my_opinion: ['A cost that cannot be taken back'],
});

const report = (letters) => ({
  conclusion: { outcome: 'adopt', statement: 'Go ahead in small steps.' },
  rationale: {
    summary: 'All see that a small step can be taken back.',
    supporting_opinions: letters.map((letter) => ({ provider: letter, key_point: 'Small steps', weight: 'high' })), supporting_reviews: [],
  },
  disagreements: [], uncertainties: [], risks: [],
  next_actions: [{ action: 'Take the first step.', priority: 'high', rationale: 'It is the first.' }],
  consensus_points: ['Small steps'], alternatives: [], verification_plan: [], findings: [],
});

/** The fences of a prompt whose label begins so: the rest of the label, and the text. */
function fences(prompt, label) {
  return [...prompt.matchAll(new RegExp(`^===== BEGIN \\S+ ${label}(.*)\\n([\\s\\S]*?)\\n===== END`, 'gm'))].map(([, rest, text]) => [rest.trim().split(' ')[0], text]);
}

/** Hostile text for all that experts and Judge write; empty for plain text. */
let foreign = '';
export function speakHostile(text) {
  foreign = text.replaceAll('\n', ' ').replaceAll('[', '(').replaceAll(']', ')');
}

/** An expert raises a tension, answers it, and converges. */
function contribute(prompt) {
  const slug = prompt.match(/You are the expert `([^`]+)`/)?.[1] ?? 'ann';
  const round = Number(prompt.match(/You take part in round (\d+)/)?.[1] ?? 0);
  const id = (kind) => `${slug.toUpperCase()}-${kind}0${round}01`;
  if (round === 0) return `[${id('P')}: View of ${slug}]\nA move must be one that can be undone. ${foreign}\n\n[${id('T')}: Cost against care]\nA trial costs time that ${slug} does not have. ${foreign}\n`;
  if (round === 1) return `[${id('R')}: Try it for a month]\nA month shows what the move costs.\n[RE:ADDRESS T0001]\n`;
  return `[${id('P')}: Last word of ${slug}]\nThe month answers it: T0001 is settled for me.\n\n[MOVE:CONVERGE]\n`;
}

/** The Judge's four steps: design, panel, reconcile, verdicts. */
function judge(prompt) {
  const step = ['In this step you design', 'you now compose the panel', 'You now reconcile', 'you give the verdicts'].findIndex((words) => prompt.includes(words));
  if (step === 0) {
    const experts = Array.from({ length: 12 }, (_, place) => ({ role: `Role ${place}`, tier: ['Core', 'Adjacent', 'Wildcard'][place % 3], relevance: 0.5, focus: 'What breaks?', description: 'You look twice.' }));
    return { domain: `Storage ${foreign}`.trim(), background: 'The archive grows.', experts, panel_size_reason: 'Few tensions.', panel_size: 3, constraints: [] };
  }
  if (step === 1) {
    const rows = JSON.parse(fences(prompt, 'EXPERTS')[0][1]);
    return { seats: rows.filter((row) => row.sat_in_last_round).map((row) => ({ expert_slug: row.expert_slug, tensions: [], reason: 'It argues well.', source: 'retained' })) };
  }
  if (step === 2) {
    const quote = (text) => text.split('\n').find((line) => line && !line.startsWith('[')) ?? text;
    const scores = fences(prompt, 'REPLY OF ').map(([slug, text]) => ({ expert_slug: slug, quote: quote(text), wisdom: 3, consistency: 2, truth: 4, relationships: 1 }));
    const open = [...new Set(prompt.match(/\bT00\d\d\b/g) ?? [])];
    const via = fences(prompt, 'LOCAL IDS').flatMap(([, text]) => text.match(/[A-Z]+-[RP]0[12]01/) ?? [])[0];
    return { merges: [], tension_updates: via ? open.map((id) => ({ id, via, reason: `A month settles it. ${foreign}`, status: 'resolved' })) : [], accepted: [], scores, gaps: [], title: 'A month', summary: `The panel weighed the month. ${foreign}` };
  }
  return { minority: [], dissents: [], final: { key_evidence: [], key_claims: [], recommendations_adopted: ['R0101'], tensions_accepted: [], description: `A month shows the cost. ${foreign}`, conditions: ['The owner names the day on which the month ends.'], recommendation: 'Try it for a month.', confidence: 'strong' } };
}

/** The role stands on a line of its own, after the shared part of the prompt. */
const ROLES = [
  ['You are a participant', () => OPINION], ['You are a reviewer', review], ['You are the chair', report],
  ['You are the Synthesizer', () => CONCLUSION], ['You are the Blind Critic', () => 'PASS'],
  ['You are the expert', (_, prompt) => contribute(prompt)], ['You are the Judge.', (_, prompt) => judge(prompt)],
];

export class ModelServer {
  constructor() {
    this.pace = 4;
    this.prompts = [];
    /** Replaces a reply: gets the prompt, returns text or undefined. */
    this.script = () => undefined;
  }

  async start() {
    this.server = http.createServer((request, response) => void this.answer(request, response));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** `council.yaml` with three seats behind this server. */
  council() {
    const seat = (name, roles) => `    - {name: ${name}, role: [${roles}], model: model-${name}, family: ${name}, dialect: openai, base_url: "http://127.0.0.1:${this.port}/v1", price: {input_per_mtok: 1.0, output_per_mtok: 4.0}}\n`;
    return `council:\n  providers:\n${seat('ann', 'participant, chair')}${seat('bob', 'participant')}${seat('cid', 'participant')}`;
  }

  async answer(request, response) {
    let body = '';
    for await (const part of request) body += part;
    const asked = JSON.parse(body || '{}');
    const prompt = (asked.messages ?? []).map((message) => (typeof message.content === 'string' ? message.content : JSON.stringify(message.content))).join('\n');
    this.prompts.push(prompt);
    const text = this.script(prompt) ?? replyTo(prompt);
    if (!asked.stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ model: asked.model, choices: [{ message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage: usage(prompt, text) }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (value) => response.write(`data: ${JSON.stringify({ model: asked.model, ...value })}\n\n`);
    for (const part of text.split(/(?<= )/)) {
      if (response.destroyed) return;
      send({ choices: [{ index: 0, delta: { content: part }, finish_reason: null }] });
      await new Promise((resolve) => setTimeout(resolve, typeof this.pace === 'function' ? this.pace(prompt) : this.pace));
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    send({ choices: [], usage: usage(prompt, text) });
    response.end('data: [DONE]\n\n');
  }
}

function usage(prompt, text) {
  return { prompt_tokens: Math.ceil(prompt.length / 4), completion_tokens: Math.ceil(text.length / 4), total_tokens: Math.ceil((prompt.length + text.length) / 4) };
}

function replyTo(prompt) {
  if (/restate/i.test(prompt) && !ROLES.some(([role]) => prompt.includes(role))) return 'Count the cost of going back first.';
  const found = ROLES.map(([role, make]) => [prompt.lastIndexOf(role), make]).filter(([place]) => place >= 0).sort((a, b) => b[0] - a[0])[0];
  const letters = [...new Set([...prompt.matchAll(/^===== BEGIN material OPINION ([A-Z])\b/gm)].map((match) => match[1]))].sort();
  const reply = found ? found[1](letters.length > 0 ? letters : ['A'], prompt) : OPINION;
  return typeof reply === 'string' ? reply : JSON.stringify(reply);
}

/** Asks a council whose conclusion is due tomorrow, and returns what it recommends. */
export async function askDue(question) {
  const models = await new ModelServer().start();
  models.pace = 0;
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  models.script = (prompt) => (prompt.includes('You are the Synthesizer') ? JSON.stringify({ ...CONCLUSION, review_by: tomorrow }) : undefined);
  fs.writeFileSync('council.yaml', models.council());
  const ran = spawn(process.env.PLENARY, ['ask', '--quiet', '--', question], { stdio: 'ignore' });
  await new Promise((resolve) => ran.on('exit', resolve));
  models.stop();
  fs.rmSync('council.yaml');
  return CONCLUSION.recommendation;
}
