# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the page looks: on a screen, on a phone, in print; light and dark. Private: not for use outside of the collection."""

from __future__ import annotations

from .markup import raw

_LIGHT = """
  --back: #f6f7f9; --card: #ffffff; --text: #1c2430; --muted: #566072; --line: #d3d9e2; --accent: #2456a6;
  --ok: #16753d; --warn: #9a5b00; --bad: #b3261e; --track: #e6eaf0; --ok-back: #e5f4eb; --warn-back: #fdf0d9; --bad-back: #fce8e6;
"""
_DARK = """
  --back: #12161d; --card: #1b212b; --text: #e6eaf0; --muted: #a3adbd; --line: #364052; --accent: #86b0f5;
  --ok: #62cf8f; --warn: #f0b45a; --bad: #ff8f86; --track: #303948; --ok-back: #1a3426; --warn-back: #3b2d14; --bad-back: #43201d;
"""

STYLE = raw(f"""
:root {{ color-scheme: light dark; {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--back); color: var(--text); font: 1rem/1.45 system-ui, sans-serif; }}
main {{ max-width: 1120px; margin: 0 auto; padding: 16px; }}
h1 {{ font-size: 1.5rem; margin: 8px 0; }}
h2 {{ font-size: 1.2rem; margin: 32px 0 8px; overflow-wrap: anywhere; }}
h3 {{ font-size: 1rem; margin: 24px 0 8px; }}
p {{ margin: 6px 0; overflow-wrap: anywhere; }}
.muted {{ color: var(--muted); }}
ul {{ margin: 0; padding: 0; list-style: none; }}
li {{ padding: 5px 12px; margin: 5px 0; border: 1px solid var(--line); border-left-width: 5px; border-radius: 6px; background: var(--card);
  overflow-wrap: anywhere; }}
li.bad {{ border-left-color: var(--bad); }}
li.warn {{ border-left-color: var(--warn); }}
li.note {{ border-left-color: var(--accent); }}
li b {{ margin-right: 6px; }}
table {{ border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); }}
.scroll {{ overflow-x: auto; }}
th, td {{ min-width: 6.4em; text-align: left; vertical-align: top; padding: 7px 10px; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }}
th {{ font-size: .85rem; color: var(--muted); font-weight: 600; overflow-wrap: normal; }}
.word {{ display: inline-block; white-space: nowrap; padding: 0 7px; border-radius: 9px; border: 1px solid currentColor; font-size: .87rem; }}
.word.ok {{ color: var(--ok); background: var(--ok-back); }}
.word.warn {{ color: var(--warn); background: var(--warn-back); }}
.word.bad {{ color: var(--bad); background: var(--bad-back); }}
.bar {{ display: block; width: 100%; min-width: 90px; max-width: 320px; height: 10px; margin-top: 5px; }}
.bar .track {{ fill: var(--track); }}
.bar .ok {{ fill: var(--ok); }}
.bar .warn {{ fill: var(--warn); }}
.bar .bad {{ fill: var(--bad); }}
figure {{ margin: 8px 0; }}
figcaption {{ color: var(--muted); font-size: .87rem; }}
.picture {{ max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }}
.picture text {{ fill: var(--text); }}
.picture text.muted {{ fill: var(--muted); font-size: 12px; }}
.picture text.zone {{ font-size: 15px; font-weight: 700; }}
.box {{ fill: var(--card); stroke: var(--line); stroke-width: 1.5; }}
.box.writes {{ stroke: var(--accent); stroke-width: 2.5; }}
.box.dark {{ stroke: var(--bad); stroke-dasharray: 6 4; }}
.node {{ fill: var(--back); stroke: var(--line); }}
.node.down {{ fill: var(--bad-back); stroke: var(--bad); }}
.node.disputed {{ fill: var(--warn-back); stroke: var(--warn); }}
circle.up {{ fill: var(--ok); }}
path.down {{ stroke: var(--bad); stroke-width: 3; fill: none; }}
path.disputed {{ fill: var(--warn); }}
.arrow {{ fill: none; stroke: var(--accent); stroke-width: 1.5; }}
.tip {{ fill: var(--accent); }}
.narrow {{ display: none; }}
@media screen and (max-width: 760px) {{
  .wide {{ display: none; }}
  .narrow {{ display: inline; }}
  table, tbody, tr, td {{ display: block; width: 100%; min-width: 0; }}
  table {{ border: 0; background: none; }}
  thead {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }}
  tr {{ border: 1px solid var(--line); border-radius: 6px; background: var(--card); margin-bottom: 10px; }}
  td {{ display: grid; grid-template-columns: minmax(84px, 30%) minmax(0, 1fr); gap: 10px; }}
  td.none {{ display: none; }}
  td:last-child {{ border-bottom: 0; }}
  td::before {{ content: attr(data-label); color: var(--muted); font-size: .87rem; font-weight: 600; }}
}}
@media print {{
  :root {{ color-scheme: light; {_LIGHT} --back: #ffffff; }}
  * {{ print-color-adjust: exact; -webkit-print-color-adjust: exact; }}
  html {{ font-size: 10.5px; }}
  main {{ max-width: none; padding: 0; }}
  li, tr, figure {{ break-inside: avoid; }}
  h2, h3 {{ break-after: avoid; }}
}}
""")
