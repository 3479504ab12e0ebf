import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import '../design/tokens.css';
import '../design/base.css';
import '../design/layout.css';
import '../design/controls.css';
import '../design/data.css';
import '../design/table.css';
import '../design/sign-in.css';
import { Shell } from './shell.tsx';
import { startTheme } from './theme.ts';

startTheme();
const root = document.getElementById('console');
if (root) render(<Shell />, root);
