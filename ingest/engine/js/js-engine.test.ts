import { engineConformance } from '../../../infra/ports/conformance/engine.ts';
import { engineHarnessesOfThisFile } from '../engine-under-test.ts';
import { createJsEngine } from './js-engine.ts';

engineConformance('the js engine', await engineHarnessesOfThisFile(createJsEngine));
