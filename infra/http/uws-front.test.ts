import { httpFrontConformance } from '../conformance/http-front.ts';
import { createUwsFront } from './uws-front.ts';

httpFrontConformance('uWebSockets.js', createUwsFront);
