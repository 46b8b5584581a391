// Short synthesised sounds, so that no file has to be fetched. Off until the person switches them on.

import { keep, loadText } from "/static/common/stored.js";

const KEY = "desdemona.sound";
let context = null;
let isOn = false;

export function loadSound() {
  isOn = loadText(KEY) === "on";
  return isOn;
}

export function setSound(on) {
  isOn = on;
  keep(KEY, on ? "on" : "off");
  if (on) play("move");
}

const NOTES = { move: [[320, 0]], yours: [[440, 0]], end: [[392, 0], [523, 0.13], [659, 0.26]] };

export function play(name) {
  if (!isOn) return;
  try {
    context ??= new AudioContext();
    for (const [frequency, at] of NOTES[name]) {
      const start = context.currentTime + at;
      const tone = context.createOscillator();
      const volume = context.createGain();
      tone.type = "triangle";
      tone.frequency.setValueAtTime(frequency, start);
      tone.frequency.exponentialRampToValueAtTime(frequency * 0.7, start + 0.09);
      volume.gain.setValueAtTime(0.16, start);
      volume.gain.exponentialRampToValueAtTime(0.001, start + 0.14);
      tone.connect(volume).connect(context.destination);
      tone.start(start);
      tone.stop(start + 0.15);
    }
  } catch {
    // A browser without audio stays silent.
  }
}
