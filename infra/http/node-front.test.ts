import { httpFrontConformance } from '../ports/conformance/http-front.ts';
import { createNodeFront } from './node-front.ts';

httpFrontConformance('node:http', createNodeFront);
