/** The style of the reference page: system fonts, light and dark, one column on a phone. */
export const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1c1b19,#ece9e2);--soft:light-dark(#67625a,#a8a297);--paper:light-dark(#fdfcfa,#171614);--card:light-dark(#f5f2ec,#211f1c);--line:light-dark(#e0dbd1,#38352f);--link:light-dark(#1f5f4a,#7fd1b0)}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:2px}
a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.86em}
code{overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow-x:auto;max-height:28rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem}
main,nav{padding:1rem}
main{min-width:0;max-width:60rem}
h1{font-size:1.75rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.4rem;margin:2.5rem 0 .5rem;padding-top:1rem;border-top:2px solid var(--ink)}
h3{font-size:1.15rem;margin:2rem 0 .5rem}
h4{font-size:1rem;margin:0;display:flex;flex-wrap:wrap;gap:.5rem;align-items:baseline}
h4 a{color:inherit;text-decoration:none}
.operation{border:1px solid var(--line);border-radius:8px;padding:1rem;margin:1rem 0;scroll-margin-top:1rem}
.operation:target{border-color:var(--link);box-shadow:0 0 0 1px var(--link)}
.method{font:600 .75rem/1.6 ui-monospace,monospace;padding:0 .45rem;border-radius:4px;border:1px solid currentColor;color:var(--soft)}
.get{color:light-dark(#1f5f8a,#8cc4ea)}.post{color:light-dark(#1f6b3a,#86d3a0)}.put,.patch{color:light-dark(#835400,#e4bb6c)}.delete{color:light-dark(#a1302a,#f09c95)}
.path{font-weight:400}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{overflow-wrap:anywhere;text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line)}
td:first-child code{overflow-wrap:break-word}
th{font-weight:600;color:var(--soft)}
.soft{color:var(--soft)}
nav ul{list-style:none;margin:.25rem 0 .5rem;padding:0 0 0 .75rem;font-size:.9rem}
nav summary{cursor:pointer;font-weight:600;padding:.25rem 0}
details>summary{cursor:pointer}
@media(min-width:60rem){body{display:grid;grid-template-columns:17rem minmax(0,1fr)}nav{position:sticky;top:0;height:100vh;overflow-y:auto;border-right:1px solid var(--line)}main{padding:1rem 2rem 4rem}}
@media print{nav{display:none}}
`
