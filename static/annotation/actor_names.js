// What the server says of names of actors: the one of the world, and what joins several in one.
const { world, joint } = JSON.parse(document.getElementById("actor-names").textContent);

export const WORLD = world;
export const JOINT = joint;
export const isWorld = (actor) => actor.trim().toLowerCase() === WORLD;
