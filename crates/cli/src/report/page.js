'use strict';
const { axes, labels, scores } = JSON.parse(document.getElementById('points').textContent);
const [x, y, svg, label] = ['x', 'y', 'scatter', 'label'].map((id) => document.getElementById(id));
const W = 640, H = 420, PAD = 48;

function add(name, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return svg.appendChild(element);
}

// The name of an axis: a click takes the next component.
function axis(select, attributes, name) {
  const label = add('text', { ...attributes, class: 'axis', 'data-axis': select.id }, name);
  label.addEventListener('click', () => {
    select.value = String((+select.value + 1) % axes.length);
    draw();
  });
}

// Maps the scores of one component to the length of an axis.
function scale(column, from, to) {
  let low = Infinity, high = -Infinity;
  for (const row of scores) { low = Math.min(low, row[column]); high = Math.max(high, row[column]); }
  const width = high - low || 1;
  return { low, high, at: (value) => from + (to - from) * (value - low) / width };
}

function draw() {
  svg.replaceChildren();
  const i = +x.value, j = +y.value, across = scale(i, PAD, W - PAD / 2), up = scale(j, H - PAD, PAD / 2);
  add('line', { x1: PAD, x2: W - PAD / 2, y1: H - PAD + 8, y2: H - PAD + 8 });
  add('line', { x1: PAD - 8, x2: PAD - 8, y1: PAD / 2, y2: H - PAD });
  const short = (value) => Number(value).toPrecision(3);
  add('text', { x: PAD, y: H - 20 }, short(across.low));
  add('text', { x: W - PAD / 2, y: H - 20, 'text-anchor': 'end' }, short(across.high));
  axis(x, { x: W / 2, y: H - 20, 'text-anchor': 'middle' }, axes[i]);
  add('text', { x: 2, y: H - PAD }, short(up.low));
  add('text', { x: 2, y: PAD / 2 + 4 }, short(up.high));
  axis(y, { x: 2, y: H / 2 }, axes[j]);
  scores.forEach((row, n) => {
    const circle = add('circle', { cx: across.at(row[i]).toFixed(1), cy: up.at(row[j]).toFixed(1), r: 3 });
    circle.addEventListener('mouseenter', () => { label.textContent = labels[n]; });
  });
}

axes.forEach((name, n) => { x.add(new Option(name, n)); y.add(new Option(name, n)); });
y.value = String(Math.min(1, axes.length - 1));
x.onchange = y.onchange = draw;
draw();
