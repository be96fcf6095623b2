// The graph of an exported file: filters, and the neighbours of an entity that the reader chooses.
// Without scripts the file keeps its first drawing. `graph_drawing.rs` draws the same boxes and lines.
(() => {
  'use strict';
  const [WIDTH, HEIGHT, GAP, COLUMN_GAP, MARGIN, HEAD, ROWS_MAX, LABEL_CHARS] = [184, 46, 12, 76, 10, 28, 14, 25];
  const NODES_MAX = 120;
  const STEPS = 2;
  const KINDS = { P: 'Perspectives', R: 'Recommendations', T: 'Tensions', E: 'Evidence', C: 'Claims' };
  const LINES = { oppose: ' against', question: ' against', reopen: ' against', support: ' for', resolve: ' for' };
  const data = JSON.parse(document.getElementById('graph-data').textContent);
  const box = document.querySelector('.drawing');
  const nodes = data.nodes.map(([id, round, status, seats, label]) => ({ id, round, status, seats, label }));
  const near = new Map(nodes.map((node) => [node.id, []]));
  for (const [source, , target] of data.edges) {
    if (source === target || !near.has(source) || !near.has(target)) continue;
    near.get(source).push(target);
    near.get(target).push(source);
  }
  const wish = { kind: '', round: '', seat: '', focus: '' };

  const make = (name, attributes, ...children) => {
    const drawn = ['svg', 'g', 'a', 'path', 'rect', 'text', 'title', 'defs', 'marker'].includes(name);
    const element = drawn ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  // The entities within some steps of one, nearest first.
  const around = (start) => {
    const found = new Map([[start, 0]]);
    for (const [id, step] of found) {
      if (step < STEPS) for (const next of near.get(id) ?? []) if (!found.has(next)) found.set(next, step + 1);
    }
    return [...found.keys()];
  };

  const choose = () => {
    const fits = (node) => node && (node.id === wish.focus || (!wish.kind || node.id[0] === wish.kind) && (!wish.round || String(node.round) === wish.round) && (!wish.seat || node.seats.includes(wish.seat)));
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const ordered = wish.focus ? around(wish.focus).map((id) => byId.get(id)) : nodes.toSorted((a, b) => near.get(b.id).length - near.get(a.id).length);
    return ordered.filter(fits);
  };

  // A column for each round; a box moves to the mean row of the boxes that it is connected with.
  const place = (shown) => {
    const rounds = new Map();
    for (const node of shown.toSorted((a, b) => a.round - b.round || a.id.localeCompare(b.id))) rounds.set(node.round, [...rounds.get(node.round) ?? [], node]);
    for (let pass = 0; pass < 4; pass += 1) {
      const rows = new Map([...rounds.values()].flatMap((column) => column.map((node, row) => [node.id, row])));
      for (const column of rounds.values()) {
        const mean = new Map(column.map((node, row) => {
          const others = near.get(node.id).map((id) => rows.get(id)).filter((other) => other !== undefined);
          return [node.id, others.length ? others.reduce((sum, other) => sum + other, 0) / others.length : row];
        }));
        column.sort((a, b) => mean.get(a.id) - mean.get(b.id) || a.id.localeCompare(b.id));
      }
    }
    const columns = [...rounds].flatMap(([round, column]) => {
      const rows = Math.ceil(column.length / Math.ceil(column.length / ROWS_MAX));
      return Array.from({ length: Math.ceil(column.length / rows) }, (_, part) => ({ round, isFirst: part === 0, nodes: column.slice(part * rows, (part + 1) * rows) }));
    });
    return columns;
  };

  const line = (type, source, target, from, to) => {
    const [y1, y2, bend] = [from.y + HEIGHT / 2, to.y + HEIGHT / 2, COLUMN_GAP / 2];
    const [x1, c1] = from.column <= to.column ? [from.x + WIDTH, from.x + WIDTH + bend] : [from.x, from.x - bend];
    const [x2, c2] = from.column < to.column ? [to.x, to.x - bend] : [to.x + WIDTH, to.x + WIDTH + bend];
    return make('path', { class: `edge${LINES[type] ?? ''}`, d: `M${x1} ${y1}C${c1} ${y1} ${c2} ${y2} ${x2} ${y2}`, 'marker-end': 'url(#arrow)' }, make('title', {}, `${source} ${type} ${target}`));
  };

  const draw = (keepsFocus) => {
    const found = choose();
    const columns = place(found.slice(0, NODES_MAX));
    const places = new Map();
    const svg = make('svg', { class: 'graph', role: 'group', 'aria-label': `Graph of ${Math.min(found.length, NODES_MAX)} entities` },
      make('defs', {}, make('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }, make('path', { d: 'M0 0 8 4 0 8z' }))));
    columns.forEach((column, index) => {
      const x = MARGIN + index * (WIDTH + COLUMN_GAP);
      if (column.isFirst) svg.append(make('text', { class: 'round', x, y: 24 }, `Round ${column.round}`));
      column.nodes.forEach((node, row) => places.set(node.id, { node, column: index, x, y: MARGIN + HEAD + row * (HEIGHT + GAP) }));
    });
    const width = 2 * MARGIN + columns.length * (WIDTH + COLUMN_GAP);
    const height = 2 * MARGIN + HEAD + Math.max(0, ...columns.map((column) => column.nodes.length)) * (HEIGHT + GAP);
    for (const [name, value] of [['width', width], ['height', height], ['viewBox', `0 0 ${width} ${height}`]]) svg.setAttribute(name, value);
    for (const [source, type, target] of data.edges) {
      if (places.has(source) && places.has(target)) svg.append(line(type, source, target, places.get(source), places.get(target)));
    }
    for (const { node, x, y } of places.values()) {
      const short = [...node.label].length > LABEL_CHARS ? `${[...node.label].slice(0, LABEL_CHARS - 1).join('')}…` : node.label;
      svg.append(make('a', { class: `node ${node.id[0]}${node.id === wish.focus ? ' focus' : ''}`, href: `#${node.id}` },
        make('title', {}, `${node.id}: ${node.label}`), make('rect', { x, y, width: WIDTH, height: HEIGHT, rx: 6 }),
        make('text', { class: 'id', x: x + 10, y: y + 18 }, `${node.id} · ${node.status}`), make('text', { x: x + 10, y: y + 36 }, short)));
    }
    box.replaceChildren(svg);
    const center = places.get(wish.focus);
    box.scrollTo(center ? center.x - box.clientWidth / 2 + WIDTH / 2 : 0, center ? center.y - box.clientHeight / 2 : 0);
    if (keepsFocus) box.querySelector('.focus')?.focus({ preventScroll: true });
    const cut = found.length > NODES_MAX ? ` The ${NODES_MAX} ${wish.focus ? 'nearest' : 'busiest'} are drawn; filter to see the others.` : '';
    said.textContent = `${Math.min(found.length, NODES_MAX)} of ${nodes.length} entities${wish.focus ? `: ${wish.focus} and its neighbours` : ''}.${cut}`;
    for (const [name, control] of Object.entries(controls)) control.value = wish[name];
    back.hidden = !Object.values(wish).some(Boolean);
  };

  const select = (name, all, options) => {
    const control = make('select', { 'aria-label': all }, ...[['', all], ...options].map(([value, text]) => make('option', { value }, text)));
    control.addEventListener('change', () => {
      wish[name] = control.value;
      draw(false);
    });
    return control;
  };

  const sorted = (values) => [...new Set(values)].sort((a, b) => (typeof a === 'number' ? a - b : a.localeCompare(b)));
  const controls = {
    kind: select('kind', 'Any kind', Object.entries(KINDS).filter(([kind]) => nodes.some((node) => node.id[0] === kind))),
    round: select('round', 'Any round', sorted(nodes.map((node) => node.round)).map((round) => [String(round), `Round ${round}`])),
    seat: select('seat', 'Any seat', sorted(nodes.flatMap((node) => node.seats)).map((seat) => [seat, seat])),
    focus: select('focus', 'Around any entity', nodes.toSorted((a, b) => (b.id[0] === 'T') - (a.id[0] === 'T') || a.id.localeCompare(b.id)).map((node) => [node.id, `${node.id} ${[...node.label].slice(0, 40).join('')}`])),
  };
  const back = make('button', { type: 'button', hidden: '' }, 'Show the first view');
  const said = make('p', { class: 'faint', role: 'status' }, 'Choose an entity to see its neighbours; choose it again to go to its text.');
  const first = [...box.childNodes];
  back.addEventListener('click', () => {
    Object.assign(wish, { kind: '', round: '', seat: '', focus: '' });
    draw(false);
    box.replaceChildren(...first);
    box.scrollTo(0, 0);
    controls.kind.focus();
  });
  box.addEventListener('click', (event) => {
    const id = event.target.closest('a.node')?.getAttribute('href').slice(1);
    if (!id || id === wish.focus || !near.has(id)) return;
    event.preventDefault();
    wish.focus = id;
    draw(true);
  });
  box.before(make('p', { class: 'filters' }, ...Object.values(controls), back), said);
})();
