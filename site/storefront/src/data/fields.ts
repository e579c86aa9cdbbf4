/** Fields of forms that the host fills in: with what was entered, and with what is wrong with it. */

interface Field {
  name: string
  label: string
  /** Attributes of the input. */
  more: string
  /** The word for a field that may be left out; a field without it is required. */
  optional?: string
  /** What is said at it when it is empty, and when it is not as it should be. */
  words: { required: string; wrong: string }
}

/** The HTML of a field, a template in Liquid: its value is `form.NAME`, its mistake `errors.NAME`. */
export const field = (about: Field) => around(about, `<input name="${about.name}" value="[[ form.${about.name} ]]" ${marked(about)}>`)

/** The same of a field for more than a line. */
export const area = (about: Field) => around(about, `<textarea name="${about.name}" ${marked(about)}>[[ form.${about.name} ]]</textarea>`)

const marked = ({ name, more, optional }: Field) =>
  `${more}${optional ? '' : ' required'}[% if errors.${name} %] aria-invalid="true" aria-describedby="error-${name}"[% endif %]`

function around({ name, label, optional, words }: Field, input: string): string {
  const note = optional ? ' <i>(' + optional + ')</i>' : ''
  const mistake = `[% if errors.${name} %]<small class="error" id="error-${name}">[% if errors.${name} == 'required' %]${words.required}[% else %]${words.wrong}[% endif %]</small>[% endif %]`
  return `<label class="field"><span>${label}${note}</span>${input}${mistake}</label>`
}
