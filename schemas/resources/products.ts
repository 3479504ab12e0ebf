import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Name, NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

export const NewProduct = Type.Object({
  id: Type.Optional(
    Type.String({ ...NamedId, description: 'Your own id of the product. Default: a generated id.' }),
  ),
  name: Name,
});
export type NewProduct = Static<typeof NewProduct>;

export const Product = Type.Object({ id: Type.String(), name: Type.String(), createdAt: Timestamp });
export type Product = Static<typeof Product>;

export const productRoutes = {
  'products.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/products`,
    plane: 'control',
    access: 'plans:read',
    summary: 'List products, newest first',
    params: Nothing,
    query: PageQuery,
    status: 200,
    response: pageOf(Product),
    errors: [],
  }),
  'products.create': defineRoute({
    method: 'POST',
    path: `${API_BASE}/products`,
    plane: 'control',
    access: 'plans:write',
    summary: 'Create a product',
    description: 'A product groups plans. Creating a plan with an unknown product creates the product too.',
    params: Nothing,
    query: Nothing,
    body: NewProduct,
    example: { name: 'Analytics' },
    status: 201,
    response: Product,
    etag: true,
    errors: ['already_exists'],
  }),
};
