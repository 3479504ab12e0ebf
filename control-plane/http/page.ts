import type { PageQuery } from '../../schemas/resources/fields.ts';

export interface Page<Item> {
  data: Item[];
  total: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNext: boolean;
  hasPrev: boolean;
}

/** After the last page `data` is empty and the totals are still correct. */
export function pageOf<Item>(data: Item[], total: number, { page, pageSize }: PageQuery): Page<Item> {
  const totalPages = Math.ceil(total / pageSize);
  return { data, total, page, pageSize, totalPages, hasNext: page < totalPages, hasPrev: page > 1 };
}
