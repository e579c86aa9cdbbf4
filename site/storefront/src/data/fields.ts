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
export function field({ name, label, more, optional, words }: Field): string {
  const note = optional ? ' <i>(' + optional + ')</i>' : ''
  const wrong = `[% if errors.${name} %] aria-invalid="true" aria-describedby="error-${name}"[% endif %]`
  const mistake = `[% if errors.${name} %]<small class="error" id="error-${name}">[% if errors.${name} == 'required' %]${words.required}[% else %]${words.wrong}[% endif %]</small>[% endif %]`
  return `<label class="field"><span>${label}${note}</span><input name="${name}" value="[[ form.${name} ]]" ${more}${optional ? '' : ' required'}${wrong}>${mistake}</label>`
}
