export * from '@dagrejs/dagre';
