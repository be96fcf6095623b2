// A model server on loopback that streams its replies word by word, in the OpenAI dialect. Each
// reply is valid for its role; `pace` gives the milliseconds between two words, for all replies or by
// the prompt.

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

/** The role stands on a line of its own, after the shared part of the prompt. */
const ROLES = [
  ['You are a participant', () => OPINION], ['You are a reviewer', review], ['You are the chair', report],
  ['You are the Synthesizer', () => CONCLUSION], ['You are the Blind Critic', () => 'PASS'],
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
  const reply = found ? found[1](letters.length > 0 ? letters : ['A']) : OPINION;
  return typeof reply === 'string' ? reply : JSON.stringify(reply);
}
