/**
 * Slash commands as the composer needs them: flattened, localised, searched, and turned back into Discord's option objects.
 *
 * Pure: no DOM and no socket. Names on the screen are localised; names sent are always the default ones, as Discord's are.
 */

import { localised } from "/static/words.js";

export const TYPE = {
  SUB: 1,
  GROUP: 2,
  STRING: 3,
  INTEGER: 4,
  BOOLEAN: 5,
  USER: 6,
  CHANNEL: 7,
  ROLE: 8,
  MENTIONABLE: 9,
  NUMBER: 10,
  ATTACHMENT: 11,
};
const MAX_SHOWN = 50; // matches listed at once; typing narrows them

/**
 * Every runnable command of the slash kind: `{id, name, shown, description, path, options}`, where `name` is "quiz play" and
 * `path` the subcommands below the command.
 */
export function flatten(commands, locale) {
  const found = [];
  const visit = (command, node, path, names, shown) => {
    const options = node.options ?? [];
    const nested = options.filter((option) => option.type === TYPE.SUB || option.type === TYPE.GROUP);
    for (const option of nested) {
      visit(
        command,
        option,
        [...path, option],
        [...names, option.name],
        [...shown, localised(locale, option.name, option.name_localizations)],
      );
    }
    if (nested.length > 0) return;
    found.push({
      id: command.id,
      name: names.join(" "),
      shown: shown.join(" "),
      description: localised(locale, node.description, node.description_localizations),
      path,
      options: options.map((option) => ({
        ...option,
        shown: localised(locale, option.name, option.name_localizations),
        about: localised(locale, option.description, option.description_localizations),
        choices: (option.choices ?? []).map((choice) => ({
          label: localised(locale, choice.name, choice.name_localizations),
          value: choice.value,
        })),
      })),
    });
  };
  for (const command of commands) {
    if ((command.type ?? 1) === 1)
      visit(command, command, [], [command.name], [localised(locale, command.name, command.name_localizations)]);
  }
  return found.sort((one, other) => one.shown.localeCompare(other.shown, locale));
}

/** The commands that fit what was typed after "/", best first: beginning of a name, within a name, in the description. */
export function search(leaves, typed) {
  const query = fold(typed.trim());
  const rank = (leaf) => {
    const names = [fold(leaf.shown), fold(leaf.name)];
    if (query === "" || names.some((name) => name.startsWith(query))) return 0;
    if (names.some((name) => name.split(" ").some((part) => part.startsWith(query)))) return 1;
    if (names.some((name) => name.includes(query))) return 2;
    return fold(leaf.description).includes(query) ? 3 : 4;
  };
  const ranked = leaves.map((leaf) => ({ leaf, rank: rank(leaf) })).filter((each) => each.rank < 4);
  return ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MAX_SHOWN)
    .map((each) => each.leaf);
}

export function fold(text) {
  return String(text).normalize("NFKC").toLowerCase();
}

/** Discord's nested option objects: `given` are the innermost `[{name, type, value}]`. */
export function nest(leaf, given) {
  return leaf.path.reduceRight((inside, step) => [{ name: step.name, type: step.type, options: inside }], given);
}

/**
 * The value to send for what stands in an option's field, as `{value}`, or `{problem: [word, values]}`, or null when the
 * field is empty. `picked` is the choice taken from a list, if its label still stands there.
 */
export function parse(option, text, picked) {
  const typed = text.trim();
  if (typed === "" && picked === null) return option.required ? { problem: ["required"] } : null;
  if (picked !== null) return { value: picked };
  if (option.choices.length > 0) {
    const choice = option.choices.find((each) => fold(each.label) === fold(typed));
    return choice ? { value: choice.value } : { problem: ["notChoice"] };
  }
  if (option.type === TYPE.INTEGER || option.type === TYPE.NUMBER) return number(option, typed);
  if (option.type === TYPE.STRING) {
    if (typed.length < (option.min_length ?? 0)) return { problem: ["tooShort", { min: option.min_length }] };
    if (typed.length > (option.max_length ?? 6000)) return { problem: ["tooLong", { max: option.max_length ?? 6000 }] };
    return { value: typed };
  }
  if (option.type === TYPE.ATTACHMENT) return { problem: ["noUpload"] };
  return { problem: ["notChoice"] }; // booleans, people and channels come from their lists
}

function number(option, typed) {
  const value = Number(typed.replace(",", "."));
  if (option.type === TYPE.INTEGER && !Number.isSafeInteger(value)) return { problem: ["notNumber"] };
  if (!Number.isFinite(value)) return { problem: ["notDecimal"] };
  const min = option.min_value ?? -(2 ** 53);
  const max = option.max_value ?? 2 ** 53;
  return value < min || value > max ? { problem: ["outOfRange", { min, max }] } : { value };
}
