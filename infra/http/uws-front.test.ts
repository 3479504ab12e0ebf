import { httpFrontConformance } from '../ports/conformance/http-front.ts';
import { createUwsFront } from './uws-front.ts';

httpFrontConformance('uWebSockets.js', createUwsFront);
