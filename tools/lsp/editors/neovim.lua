-- Neovim 0.7 or later: copy this file to ~/.config/nvim/plugin/nnefc.lua.
vim.filetype.add({ extension = { nnef = 'nnef', quant = 'nnef' } })

local config = { name = 'nnefc', cmd = { 'nnefc', 'lsp' } }
local client -- one server for all documents

vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
  pattern = { '*.nnef', '*.quant', '.nnefc.json' },
  callback = function(event)
    vim.bo[event.buf].commentstring = '# %s'
    vim.bo[event.buf].omnifunc = 'v:lua.vim.lsp.omnifunc'
    if vim.lsp.start then
      vim.lsp.start(config, { bufnr = event.buf })
    else -- before 0.8
      client = client or vim.lsp.start_client(config)
      vim.lsp.buf_attach_client(event.buf, client)
    end
  end,
})
